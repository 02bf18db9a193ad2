// SPDX-License-Identifier: Apache-2.0
#include "ahead/channel_reader.hpp"
#include "element/blocks.hpp"
#include "sluice/coro/saved.hpp"

#include <algorithm>

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
  block_ring& ring = link.ring();
  for (;;) {
    ring_slot* slot = co_await ring.receive();
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
    ring.release(slot);
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

/// The reader's end of an unordered ring.
struct unordered_link {
  erased_stream in;
  std::shared_ptr<block_ring> ring;
  std::vector<mark> marks;
  ordinal_ranges done;    ///< delivered beyond the lowest undelivered
  ordinal_ranges replay;  ///< choices of an earlier run, to be repeated in this order
  std::size_t replayed = 0;
  decision_log log;

  unordered_link() = default;
  unordered_link(unordered_link&&) = default;
  ~unordered_link() {
    if (ring) ring->close();
  }

  static void put(position_writer& w, const ordinal_ranges& v, std::size_t from) {
    w.number(v.size() - from);
    for (std::size_t i = from; i != v.size(); ++i) {
      w.number(v[i].first);
      w.number(v[i].second);
    }
  }
  static ordinal_ranges::value_type get_range(position_reader& r) {
    std::uint64_t first = r.number(), count = r.number();
    if (count == 0 || first > demand::kAll || count > demand::kAll) r.fail();
    return {first, count};
  }
  static ordinal_ranges get(position_reader& r) {
    ordinal_ranges v;  // grows as it is read: a range takes more memory than bytes
    for (std::size_t n = r.count(); n && r.ok(); --n) v.push_back(get_range(r));
    return v;
  }
  void save(position_writer& w) {
    if (!in) {
      std::lock_guard lock(ring->mutex());
      std::uint64_t lowest = ring->lowest_undelivered();
      std::erase_if(done, [&](auto& range) { return range.first + range.second <= lowest; });
    }
    put(w, done, 0);
    put(w, replay, replayed);
    w.log(log.here());
  }
  mark input_place() {
    if (in) return in.place();
    std::lock_guard lock(ring->mutex());
    std::uint64_t lowest = ring->lowest_undelivered();
    auto& m = ring->marks();
    while (m.size() > 1 && m[1].ordinal <= lowest) m.erase(m.begin());
    mark below = m[0];
    below.advance_to(lowest);
    return below;
  }
  void restore_input(position_records& from) { in.restore(from); }
  std::uint64_t input_consumed() const { return in.consumed(); }
  void load(position_reader& r) {
    done = get(r);
    replay = get(r);
    std::size_t logged = r.count();
    for (std::size_t i = 0; i + 1 < logged && r.ok(); i += 2) { replay.push_back(get_range(r)); }
    if (logged % 2) r.number();  // a choice that was being written down: nobody has its elements yet
  }
  bool may_wait() const { return true; }

  bool replaying() const { return replayed < replay.size(); }
  std::uint64_t needed() const { return replaying() ? replay[replayed].first : stream_base::kNone; }
  /// How many of n elements the current choice covers; moves on in the list of choices.
  std::uint32_t choose(std::uint32_t n) {
    if (!replaying()) return n;
    auto& [first, count] = replay[replayed];
    auto taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(n, count));
    first += taken;
    count -= taken;
    if (count == 0) ++replayed;
    ring->replay(needed());
    return taken;
  }
};

erased_stream read_as_finished(outlet out, saved<unordered_link> link, channel_memory memory, std::uint32_t slots,
                               std::shared_ptr<run_context> run, std::shared_ptr<const slot_computation> computation,
                               bool may_drop) {
  pump_options options;
  options.one_each = may_drop;
  options.computation = std::move(computation);
  options.done = link->done;
  options.replayed = link->replay;
  const element_type& in_type = link->in.type();
  block_ring::limits limits{slots, ~std::uint64_t{0}};
  link->ring = std::make_shared<block_ring>(std::move(run), std::move(memory), in_type, out.type(), limits, false);
  link->ring->begin_at(link->in.consumed(), link->in.take_mark());
  link->ring->replay(link->needed());
  start_pump(link->ring, std::move(link->in), std::move(options));
  for (;;) {
    ring_slot* slot = co_await link->ring->receive(link->needed());
    if (!slot) break;
    block whole = slot->outputs();
    SLUICE_ASSERT(slot->dropped.empty() || slot->count == 1, "an unordered slot of several elements lost one");
    if (slot->delivered == 0) {
      dropped_errors missed = std::exchange(slot->missed, dropped_errors());
      for (dropped_input& input : slot->dropped) missed.add({std::move(input.why), 1, input.account});
      auto dropping = out.drop(std::move(missed));
      co_await dropping;
    }
    if (!slot->why.ok()) {
      out.hold(tail_of(whole, slot->delivered));
      co_await fail(slot->why);
    }
    if (slot->delivered < whole.size()) {
      bool chosen_now = !link->replaying();  // a replayed choice is not logged again: a mark taken before it holds it
      std::uint32_t n = link->choose(std::min(whole.size() - slot->delivered, out.ask()));
      block part = tail_of(whole, slot->delivered).first(n);
      std::uint64_t first = slot->first + slot->delivered;
      if (chosen_now) link->log.add(first);
      if (chosen_now) link->log.add(n);
      {
        std::lock_guard lock(link->ring->mutex());
        link->done.emplace_back(first, n);
        slot->delivered += n;
      }
      link->ring->hand_on(slot, n, slot->delivered >= whole.size());
      co_yield part;
    }
    if (slot->delivered >= whole.size()) link->ring->release(slot);
  }
  auto dropping = out.drop(link->ring->missed_at_end());
  co_await dropping;
  status why = link->ring->why();
  if (why.ok() && link->replaying()) why = damaged_position();  // a choice of an element that there is none of
  if (!why.ok()) co_await fail(std::move(why));
}

}  // namespace

reader_link::reader_link(std::shared_ptr<run_context> run, channel_memory memory, erased_stream in,
                         const element_type& out, block_ring::limits limits, pump_options options)
    : run_(std::move(run)),
      memory_(std::move(memory)),
      in_(std::move(in)),
      out_(out),
      limits_(limits),
      options_(std::move(options)) {}

reader_link::~reader_link() {
  if (ring_) ring_->close();
}

void reader_link::start(std::uint64_t passed) {
  if (ring_) return;
  in_.pass_over(passed);
  ordinal_ = in_.consumed();
  last_ = in_.take_mark();
  last_.residual += ordinal_ - last_.ordinal;  // what is to be passed over first is part of the way to it
  last_.ordinal = ordinal_;
  ring_ = std::make_shared<block_ring>(run_, memory_, in_.type(), out_, limits_, true);
  ring_->set_signal(signal_, number_);
  start_pump(ring_, std::move(in_), std::move(options_));
}

mark reader_link::place() {
  if (!ring_) return in_.place();
  mark m = last_;
  m.advance_to(ordinal_);
  return m;
}

erased_stream read_ahead(outlet out, std::shared_ptr<reader_link> link, one_to_one counts) {
  saved<link_handle> handle;
  std::uint64_t begun = link->consumed();  // a restored input does not begin at 0
  handle->link = std::move(link);
  erased_stream s = read_in_order(out, counts, std::move(handle));
  s.begin_at(begun);
  return s;
}

erased_stream read_unordered(outlet out, channel_memory memory, std::shared_ptr<run_context> run, erased_stream in,
                             std::uint32_t slots, std::shared_ptr<const slot_computation> computation, bool may_drop) {
  saved<unordered_link> link;
  link->in = std::move(in);
  return read_as_finished(out, std::move(link), std::move(memory), slots, std::move(run), std::move(computation),
                          may_drop);
}

}  // namespace sluice::lib
