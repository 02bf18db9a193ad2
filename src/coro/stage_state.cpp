// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/detail/stage_state.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "coro/positions/position_records.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {

void input_list::add(stream_base& in) {
  if (size_ == 0) {
    one_.stream = &in;
  } else {
    if (size_ >= room_) {
      const std::uint32_t room = std::max(4u, 2 * room_);
      auto* more = new stage_input[room];
      std::copy(begin(), end(), more);
      free_all();
      all_ = more;
      room_ = room;
    }
    all_[size_] = {&in};
  }
  ++size_;
}

void input_list::free_all() noexcept { delete[] all_; }

namespace {

void write_place(const stage_input& in, bool at_resume_point, position_writer& w) {
  if (at_resume_point) in.stream->position_at(in.cut_ordinal, w);
  else in.stream->position(w);
}

}  // namespace

// Not called for a state that owns no input.
mark saved_base::input_place() { return {}; }
void saved_base::restore_input(position_records&) {}
std::uint64_t saved_base::input_consumed() const { return 0; }

bool stage_state::may_wait() const {
  for (const saved_base* s = saved_; s; s = s->next_)
    if (s->may_wait()) return true;
  for (const stage_input& in : inputs_)
    if (in.stream->may_wait()) return true;
  return false;
}

bool stage_state::keeps_resume_point() const {
  for (const saved_base* s = saved_; s; s = s->next_)
    if (!s->keeps_resume_point()) return false;
  return true;
}

mark stage_state::take_input(std::uint64_t made) {
  SLUICE_REQUIRES(is_its_input(), "the stage has values of its own, or several inputs");
  mark m = input_owner_ ? input_owner_->input_place() : inputs_.first().stream->place();
  m.ordinal = made;
  return m;
}

mark stage_state::take(std::uint64_t made, std::uint64_t residual, bool at_resume_point) {
  mark m;
  m.ordinal = made;
  m.residual = residual;
  m.site = identity_.site;
  m.version = identity_.version;
  bool apart = inputs_are_apart();
  if (apart) {
    for (const stage_input& in : inputs_) {
      auto chain = std::make_shared<position_writer>();
      write_place(in, at_resume_point, *chain);
      m.state.blob(std::move(chain));
    }
  }
  for (saved_base* s = saved_; s; s = s->next_) s->save(m.state, at_resume_point);
  m.own_bytes = m.state.size_bytes();
  if (!apart && !inputs_.empty()) write_place(inputs_.first(), at_resume_point, m.state);
  if (input_owner_) {
    mark below = input_owner_->input_place();
    m.state.record(below, below.ordinal);
  }
  return m;
}

std::uint64_t stage_state::restore(const position_record* own, position_records& from, std::string_view label) {
  bool alone = inputs_.empty() && !input_owner_;
  bool needs_record = alone || inputs_are_apart();
  for (const saved_base* s = saved_; s; s = s->next_) needs_record |= !s->holds_nothing();
  if (!own && needs_record) {
    from.damaged();
    return 0;
  }
  if (own) load_own(*own, from, label);
  if (input_owner_) input_owner_->restore_input(from);
  else if (!inputs_.empty() && !inputs_are_apart()) inputs_.first().stream->restore(from);
  if (own && input_owner_) input_owner_->begins_at(own->ordinal - own->to_pass);
  if (own) return own->ordinal - own->to_pass;
  // A stage without a record in the position yielded one element for each input element until there.
  return input_owner_ ? input_owner_->input_consumed() : inputs_.first().stream->consumed();
}

status version_mismatch(const position_record& own, const stage_identity& known, std::string_view label) {
  if (own.version <= known.version && own.version >= known.version_oldest) return {};
  return failed_precondition_error(std::string(label) + ": the checkpoint holds this stage's state in version " +
                                   std::to_string(own.version) + ", and this version of sluice reads versions " +
                                   std::to_string(known.version_oldest) + " to " + std::to_string(known.version) +
                                   "; resume it with the version of sluice that wrote it");
}

void stage_state::load_own(const position_record& own, position_records& from, std::string_view label) {
  if (status why = version_mismatch(own, identity_, label); !why.ok()) return from.refuse(std::move(why));
  position_reader r(own.saved, own.version);
  if (inputs_are_apart()) {
    for (const stage_input& in : inputs_) {
      position_records chain{std::string(r.text())};
      in.stream->restore(chain);
      from.refuse(chain.finish());
    }
  }
  for (saved_base* s = saved_; s; s = s->next_) s->load(r);
  from.refuse(r.why());
  if (!r.ok() || !r.done()) from.damaged();
}

void stage_state::copy_saved_to(stage_state& fresh) const {
  position_writer w;
  for (saved_base* s = saved_; s; s = s->next_) s->save(w, true);
  std::string bytes = w.bytes();
  position_reader r(bytes);
  for (saved_base* s = fresh.saved_; s; s = s->next_) s->load(r);
}

}  // namespace sluice::lib
