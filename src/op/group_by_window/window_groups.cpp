// SPDX-License-Identifier: Apache-2.0
#include "op/group_by_window/window_groups.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "engine/given_elements.hpp"
#include "expr/numbers.hpp"
#include "sluice/engine/keys.hpp"

namespace sluice::lib {

namespace {

/// What a node of a map takes beside its value, with its allocation.
constexpr std::size_t kNodeBytes = 48;

std::int64_t whole_number_at(const element_type& t, const void* at) {
  return expressions::with_number(expressions::number_of(t), [&]<class N>(std::type_identity<N>) {
    N value{};
    std::memcpy(&value, at, sizeof value);
    return static_cast<std::int64_t>(value);
  });
}

}  // namespace

window_groups::window_groups(const group_by_window_arguments& a, const element_type& elements,
                             std::shared_ptr<run_context> run, std::string label)
    : key_(a.key.value),
      size_function_(a.options.window_size_func.value),
      size_(a.window_size ? static_cast<std::uint64_t>(a.window_size->value) : 0),
      type_(elements),
      memory_(std::move(run), purpose::window, std::move(label), "what its groups hold",
              "lower window_size, or give keys of which there are fewer") {}

std::size_t window_groups::entry_bytes(std::string_view code) {
  return sizeof(table::value_type) + sizeof(group) + code.size() + 2 * kNodeBytes;
}

window_groups::group_ptr window_groups::make_group() {
  auto g = std::make_unique<group>();
  g->held.emplace(type_, memory_, sizeof(std::uint64_t));
  return g;
}

status window_groups::size_for(std::string_view code, std::uint64_t& size) {
  if (auto known = sizes_.find(code); known != sizes_.end()) {
    size = known->second;
    return {};
  }
  slab key_of_group(*key_->out), made(*size_function_->out);
  char* at = key_of_group.reserve(1);
  key().build_key(code, at);
  key_of_group.set_live(0, 1);
  char* to = made.reserve(1);
  applied a = static_cast<const block_function&>(*size_function_)
                  .apply(block(nullptr, &key_of_group.type(), at, 1), to, element_place());
  if (!a.why.ok()) return a.why;
  made.set_live(0, 1);
  const std::int64_t given = whole_number_at(*size_function_->out, to);
  if (given < 1)
    return invalid_argument_error("the size of a group is at least 1, and window_size_func gives " +
                                  std::to_string(given));
  size = static_cast<std::uint64_t>(given);
  sizes_.emplace(code, size);
  return memory_.change(code.size() + sizeof(size) + kNodeBytes, 0);
}

status window_groups::add_group(std::string_view code, table::iterator& at) {
  std::uint64_t size = size_;
  if (size_function_) {
    status why = size_for(code, size);
    if (!why.ok()) return why;
  }
  at = groups_.emplace(code, make_group()).first;
  at->second->size = size;
  firsts_.insert(next_);
  return memory_.change(entry_bytes(code), 0);
}

applied window_groups::take(erased_stream& in) {
  if (looked_at_ == codes_.size() && bad_.ok()) {
    codes_.clear();
    looked_at_ = 0;
    bad_ = key().codes(block(nullptr, &in.type(), in.peek().data(), in.left()), codes_).why;
  }
  applied all;
  while (looked_at_ != codes_.size() && !full_) {
    const std::string_view code = codes_[looked_at_];
    auto at = groups_.find(code);
    if (at == groups_.end()) {
      all.why = add_group(code, at);
      if (!all.why.ok()) return all;
    }
    group& g = *at->second;
    std::uint32_t n = 1;
    while (g.held->size() + n != g.size && looked_at_ + n != codes_.size() && codes_[looked_at_ + n] == code) ++n;
    block some = in.take(n);
    all.why = g.held->add(some, n);
    if (!all.why.ok()) return all;
    for (std::uint32_t i = 0; i != n; ++i) g.ordinals.add(next_++);
    looked_at_ += n;
    all.done += n;
    if (g.held->size() == g.size) full_ = &at->first;
  }
  if (!full_) all.why = bad_;
  return all;
}

void window_groups::pass_bad(erased_stream& in) {
  in.drop(1);
  ++next_;
  if (looked_at_ != codes_.size()) ++looked_at_;
  else bad_ = {};
}

void window_groups::let_leave() {
  auto at = full_ ? groups_.find(*full_) : groups_.begin();
  full_ = nullptr;
  memory_.shrink_by(entry_bytes(at->first));
  gone_ = std::move(at->second);
  groups_.erase(at);
  is_leaving_ = true;
}

status window_groups::open_leaving(const open_context& context, std::uint32_t site, const node_ptr& reduce,
                                   bool moves) {
  const std::size_t n = gone_->held->size();
  const std::size_t owned = gone_->held->owned_bytes(gone_->held->at(0), n);
  leaving_bytes_ = n * type_.size;
  status fits = memory_.change(leaving_bytes_, 0);
  if (!fits.ok()) return fits;
  auto elements = std::make_shared<element_group>(type_, moves);
  gone_->held->move_front(n, elements->room(n));
  gone_->held.reset();
  leaving_bytes_ += owned;
  fits = memory_.change(owned, 0);
  if (!fits.ok()) return fits;
  open_context inside = context.in_inner_plan(site, left_before_);
  inside.given = std::move(elements);
  return inner_.open(inside, reduce, left_before_);
}

void window_groups::close_leaving() {
  inner_.in.close();
  memory_.shrink_by(std::exchange(leaving_bytes_, 0));
  firsts_.erase(gone_->ordinals.at(0));
  gone_.reset();
  is_leaving_ = false;
  ++left_before_;
}

void window_groups::save(position_writer& w) {
  inner_.save(w);
  w.number(has_begun_);
  if (!has_begun_) return;
  w.number(next_);
  w.number(left_before_);
  w.number(groups_.size() + restored_.size());
  for (auto& [code, g] : groups_) g->ordinals.save(w);
  for (auto& g : restored_) g->ordinals.save(w);
  w.number(is_leaving_);
  if (!is_leaving_) return;
  gone_->ordinals.save(w);
}

void window_groups::load(position_reader& r) {
  inner_.load(r);
  has_begun_ = r.number() != 0;
  if (!has_begun_) return;
  next_ = r.number();
  left_before_ = r.number();
  auto read = [&] {
    group_ptr g = make_group();
    g->ordinals.load(r);
    if (g->ordinals.size() == 0 || g->ordinals.at(g->ordinals.size() - 1) >= next_) r.fail();
    return g;
  };
  for (std::size_t n = r.count(); n && r.ok(); --n) restored_.push_back(read());
  is_leaving_ = r.number() != 0;
  if (!is_leaving_) return;
  gone_ = read();
}

status window_groups::place_again(group_ptr g) {
  key_codes first;
  applied a = key().codes(block(nullptr, &type_, g->held->at(0), 1), first);
  if (!a.why.ok()) return a.why;
  g->size = size_;
  if (size_function_) {
    status why = size_for(first[0], g->size);
    if (!why.ok()) return why;
  }
  if (g->held->size() >= g->size) return damaged_position();
  firsts_.insert(g->ordinals.at(0));
  if (!groups_.emplace(first[0], std::move(g)).second) return damaged_position();
  return memory_.change(entry_bytes(first[0]), 0);
}

task<void> fetch_groups(window_groups& groups, erased_stream& in) {
  if (!groups.has_begun_) {
    groups.has_begun_ = true;
    groups.next_ = in.consumed();
  } else {
    std::vector<ordinals_fetch::part> parts;
    for (auto& g : groups.restored_) parts.push_back({&g->ordinals, &*g->held});
    if (groups.is_leaving_) parts.push_back({&groups.gone_->ordinals, &*groups.gone_->held});
    ordinals_fetch list(std::move(parts), groups.next_);
    status fits = list.make_places();
    if (!fits.ok()) co_await fail(std::move(fits));
    auto fetching = fetch_held(in, list, groups.memory_);
    co_await fetching;
    list.all_built();
    if (groups.is_leaving_) groups.firsts_.insert(groups.gone_->ordinals.at(0));
    for (; !groups.restored_.empty(); groups.restored_.pop_front()) {
      const std::uint64_t ordinal = groups.restored_.front()->ordinals.at(0);
      status why = groups.place_again(std::move(groups.restored_.front()));
      if (!why.ok()) {
        status told = why.in_stage(groups.memory_.label(), ordinal);
        co_await fail(std::move(told));
      }
    }
  }
}

}  // namespace sluice::lib
