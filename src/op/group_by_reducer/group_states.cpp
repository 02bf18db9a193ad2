// SPDX-License-Identifier: Apache-2.0
#include "op/group_by_reducer/group_states.hpp"

#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/engine/keys.hpp"

namespace sluice::lib {
namespace {

/// The overhead of an allocation in bytes.
constexpr std::size_t kAllocationBytes = 16;
/// The bytes counted for each group in a position, in addition to its state: they limit the number of groups, so that
/// saving them takes a few milliseconds.
constexpr std::size_t kSavedGroupBytes = 16;

/// Returns the type of init's argument and result. Without init the memory is not used.
const element_type& or_number(const element_type* t) { return t ? *t : type_of<std::int64_t>(); }

}  // namespace

group_states::group_states(const group_by_reducer_arguments& a, std::shared_ptr<run_context> run,
                           const error_gate& gate)
    : key_(a.key.value),
      function_(a.function.value),
      init_(a.options.init.value),
      finish_(a.options.finish.value),
      initial_state_(a.options.initial_state),
      memory_(std::move(run), gate.line(purpose::state), gate.label(), "the states of its groups",
              "use fewer keys, or store less in a state"),
      first_key_(or_number(key_->out)),
      first_state_(or_number(function().state_type)) {}

group_states::~group_states() {
  for (auto& [code, g] : groups_)
    if (g.state) function().destroy(g.state);
}

std::size_t group_states::bytes_of(const table::value_type& entry) const {
  const std::string& code = entry.first;
  bool is_inside = code.capacity() <= std::string().capacity();
  std::size_t key_bytes = is_inside ? 0 : code.capacity() + kAllocationBytes;
  // The nodes of a tree are two thirds full on average.
  return sizeof(entry) * 3 / 2 + key_bytes + function().state_size + kAllocationBytes;
}

void group_states::add(table::iterator at) { more_ += bytes_of(*at); }

void group_states::measure(group& g, std::uint32_t calls) {
  if (!function().owns_memory || !g.owned.called(calls)) return;
  std::size_t now = function().owned_bytes(g.state);
  more_ += now;
  fewer_ += g.owned.measured(now);
}

void group_states::erase(table::iterator at) {
  fewer_ += bytes_of(*at) + at->second.owned.bytes();
  function().destroy(at->second.state);
  groups_.erase(at);
}

status group_states::begin(std::string_view code, group& g) {
  const state_function& f = function();
  if (!init_) {
    g.state = f.make();
    load_initial_state(f, g.state, initial_state_, memory_.label());
    return {};
  }
  char* at = first_key_.reserve(1);
  key().build_key(code, at);
  first_key_.set_live(0, 1);
  char* made = first_state_.reserve(1);
  block from(nullptr, &first_key_.type(), at, 1);
  status why = static_cast<const block_function&>(*init_).apply(from, made, {}).why;
  first_key_.clear();
  if (!why.ok()) return why;
  first_state_.set_live(0, 1);
  g.state = f.make_from(made);
  first_state_.clear();
  return {};
}

applied group_states::take(const block& in, bool undo) {
  const state_function& f = function();
  codes_.clear();
  applied all = key().codes(in, codes_);
  const std::uint32_t keyed = std::exchange(all.done, 0);
  while (all.done != keyed) {
    std::uint32_t first = all.done, n = 1;
    std::string_view code = codes_[first];
    while (first + n != keyed && codes_[first + n] == code) ++n;
    auto at = groups_.lower_bound(code);
    bool is_new = at == groups_.end() || at->first != code;
    if (is_new) {
      group g;
      status why = begin(code, g);
      if (!why.ok()) return {first, std::move(why)};
      at = groups_.emplace_hint(at, std::string(code), g);
      add(at);
    }
    applied some = f.apply(at->second.state, block(nullptr, &in.type(), in.at(first), n), nullptr, undo);
    all.done += some.done;
    if (some.why.ok() || !is_new || some.done) measure(at->second, some.done);
    else erase(at);
    if (!some.why.ok()) return {all.done, std::move(some.why)};
  }
  return all;
}

status group_states::charge() {
  std::size_t more = std::exchange(more_, 0), fewer = std::exchange(fewer_, 0);
  status fits = memory_.change(more, fewer);
  if (fits.ok()) return fits;
  return memory_.refused("the state of its " + std::to_string(size()) + " groups");
}

void group_states::input_ended() {
  ended_ = true;
  std::size_t bytes = 0;
  for (auto at = groups_.rbegin(); at != groups_.rend(); ++at, ++saved_by_value_) {
    bytes += saved_state(function(), at->second.state).size() + kSavedGroupBytes;
    if (bytes > kStateBytesMax) break;
  }
}

status group_states::finish_first(void* to) {
  SLUICE_REQUIRES(ended_ && size() > 0, "groups leave when the input has ended");
  return finish_state(function(), finish_, groups_.begin()->second.state, to);
}

void group_states::drop_first() {
  SLUICE_REQUIRES(ended_ && size() > 0, "groups leave when the input has ended");
  erase(groups_.begin());
  memory_.shrink_by(std::exchange(fewer_, 0));
  ++dropped_;
}

// Either the number of states plus one, and the states; or zero, and the number of groups that were dropped.
void group_states::save(position_writer& w) const {
  if (!saves_states()) {
    w.number(0);
    w.number(dropped_);
    return;
  }
  w.number(size() + 1);
  for (auto& [code, g] : groups_) w.text(saved_state(function(), g.state));
}

void group_states::load(position_reader& r) {
  std::uint64_t states = r.number();
  if (!r.ok()) return;
  if (states == 0) {
    dropped_ = r.number();
    return;
  }
  ended_ = true;
  // Keys are not needed any more: numbers name the states in their order. Only a forged position has more states than
  // the limit.
  std::size_t bytes = 0;
  for (std::uint64_t i = 0; i + 1 != states && r.ok(); ++i) {
    std::string_view state = r.text();
    bytes += state.size() + kSavedGroupBytes;
    if (bytes > kStateBytesMax) r.fail();
    if (!r.ok()) break;
    std::string code;
    detail::add_code(code, i);
    auto at = groups_.emplace_hint(groups_.end(), std::move(code), group());
    at->second.state = function().make();
    load_state(function(), at->second.state, r, state, memory_.label());
    add(at);
    measure(at->second, 1);
  }
  saved_by_value_ = size();
  status fits = charge();
  if (!fits.ok()) r.refuse(std::move(fits));
}

}  // namespace sluice::lib
