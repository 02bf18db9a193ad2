// SPDX-License-Identifier: Apache-2.0
#include "ahead/ordered_reader.hpp"

#include <algorithm>

#include "element/blocks.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// Input ordinal after the slot's first `n` outputs. What is dropped behind them is not counted by then.
std::uint64_t ordinal_after(const ring_slot& s, std::uint32_t n) {
  std::uint64_t ordinal = s.first + n;
  for (const dropped_input& input : s.dropped)
    if (s.first + input.number < ordinal) ++ordinal;
  return ordinal;
}

/// A reader's link as a stage's saved state.
struct link_handle {
  static constexpr bool kHoldsNothing = true;  // of its own
  std::shared_ptr<reader_link> link;
  void save(position_writer&) {}
  void load(position_reader&) {}
  mark input_place() { return link->place(); }
  void restore_input(position_records& from) { link->restore(from); }
  std::uint64_t input_consumed() const { return link->consumed(); }
  bool may_wait() const { return link->may_wait(); }
};

erased_stream read_in_order(outlet out, one_to_one, saved<link_handle> handle) {
  reader_link& link = *handle->link;
  // What is to be passed over first, after a resume for example, is passed over below the channel.
  std::uint64_t passed = link.one_to_one() && !link.started() ? out.pass(demand::kAll) : 0;
  link.start(passed);
  ordered_ring& ring = link.ring();
  ring_slot* slot = nullptr;
  for (;;) {
    slot = co_await ring.receive(slot);
    if (!slot) break;
    link.reached(*slot);
    auto dropping = out.drop(std::move(slot->missed));
    co_await dropping;
    block whole = slot->outputs();
    std::size_t dropped = 0;  // counted
    for (std::uint32_t at = 0;;) {
      std::uint32_t until = slot->outputs_before(dropped);
      if (at == until && dropped < slot->dropped.size()) {
        dropped_input& bad = slot->dropped[dropped++];
        auto counting = out.drop(dropped_error{std::move(bad.why), 1, bad.account});
        co_await counting;
        continue;
      }
      if (at == whole.size()) break;
      std::uint32_t n = std::min(until - at, out.ask());
      block part = tail_of(whole, at).first(n);
      at += n;
      link.delivered_to(ordinal_after(*slot, at));
      bool last = at == whole.size();
      if (last && !slot->why.ok() && dropped == slot->dropped.size()) {
        out.hold(part);
        co_await fail(slot->why);
      }
      ring.hand_on(slot, n, last);
      co_yield part;
    }
    if (!slot->why.ok()) co_await fail(slot->why);
    link.delivered_to(slot->first + slot->count);
  }
  if (passed) {
    std::uint64_t missing = std::min(ring.not_passed(), passed);
    out.unpass(missing);
    link.passed_less(missing);
  }
  auto dropping = out.drop(ring.missed_at_end());
  co_await dropping;
  status why = ring.why();
  if (!why.ok()) co_await fail(std::move(why));
}

}  // namespace

reader_link::reader_link(channel_memory memory, erased_stream in, const element_type& out, channel_options options)
    : memory_(std::move(memory)), in_(std::move(in)), out_(out), options_(std::move(options)) {}

reader_link::~reader_link() {
  if (ring_) ring_->close();
}

void reader_link::start(std::uint64_t passed) {
  if (ring_) return;
  in_.pass_over(passed);
  ordinal_ = in_.consumed();
  last_ = in_.take_mark();
  last_.advance_to(ordinal_);  // what is to be passed over first is part of the way to it
  ring_ = std::make_shared<ordered_ring>(memory_.run(), memory_, in_.type(), out_, options_.limits);
  ring_->set_signal(options_.signal, number_);
  ring_->follow(options_.follows);
  start_pump(ring_, std::move(in_), std::move(options_.pump));
}

mark reader_link::place() {
  if (!ring_) return in_.place();
  mark m = last_;
  m.advance_to(ordinal_);
  return m;
}

erased_stream read_ahead(outlet out, std::shared_ptr<reader_link> link) {
  saved<link_handle> handle;
  std::uint64_t begun = link->consumed();  // a restored input does not begin at 0
  one_to_one counts{link->one_to_one()};
  handle->link = std::move(link);
  erased_stream s = read_in_order(out, counts, std::move(handle));
  s.begin_at(begun);
  return s;
}

}  // namespace sluice::lib
