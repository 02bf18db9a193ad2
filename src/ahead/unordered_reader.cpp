// SPDX-License-Identifier: Apache-2.0
#include "ahead/unordered_reader.hpp"

#include <algorithm>

#include "ahead/pump.hpp"
#include "ahead/unordered_ring.hpp"
#include "element/batches/blocks.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The reader's end of an unordered ring.
struct unordered_link {
  erased_stream in;
  std::shared_ptr<unordered_ring> ring;
  ordinal_ranges done;    ///< delivered after the lowest undelivered input
  ordinal_ranges replay;  ///< choices of an earlier run, which are repeated in this order
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
    ordinal_ranges v;  // grows while it is read: a range takes more memory than its bytes
    for (std::size_t n = r.count(); n && r.ok(); --n) v.push_back(get_range(r));
    return v;
  }
  void save(position_writer& w) {
    if (!in) {
      std::uint64_t lowest = ring->lowest_undelivered();
      std::erase_if(done, [&](auto& range) { return range.first + range.second <= lowest; });
    }
    put(w, done, 0);
    put(w, replay, replayed);
    w.log(log.here());
  }
  mark input_place() { return in ? in.place() : ring->place(); }
  void restore_input(position_records& from) { in.restore(from); }
  std::uint64_t input_consumed() const { return in.consumed(); }
  void load(position_reader& r) {
    done = get(r);
    replay = get(r);
    std::size_t logged = r.count();
    for (std::size_t i = 0; i + 1 < logged && r.ok(); i += 2) { replay.push_back(get_range(r)); }
    if (logged % 2) r.number();  // an incomplete choice: its elements were not delivered yet
  }
  bool may_wait() const { return true; }

  bool replaying() const { return replayed < replay.size(); }
  std::uint64_t needed() const { return replaying() ? replay[replayed].first : stream_base::kNone; }
  /// Returns how many of n elements the current choice covers, and advances in the list of choices.
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

erased_stream read_as_finished(outlet out, saved<unordered_link> link, channel_memory memory, channel_options given) {
  pump_options options = std::move(given.pump);
  options.one_each = options.may_drop;
  options.done = link->done;
  options.replayed = link->replay;
  slot_supply::live_limits limits = given.follows;
  const element_type& in_type = link->in.type();
  std::uint64_t next = link->in.consumed();
  mark begin = link->in.take_mark();
  std::shared_ptr<run_context> run = memory.run();
  link->ring = std::make_shared<unordered_ring>(std::move(run), std::move(memory), in_type, out.type(),
                                                limits.at(limits.knob->get()), next, std::move(begin));
  link->ring->follow(limits);
  link->ring->replay(link->needed());
  start_pump(link->ring, std::move(link->in), std::move(options));
  for (;;) {
    ring_slot* slot = co_await link->ring->receive(link->needed());
    if (!slot) break;
    block whole = slot->outputs();
    SLUICE_ASSERT(slot->dropped.empty() || slot->count == 1, "an unordered slot of several elements lost one");
    if (slot->delivered == 0) {
      dropped_errors missed = std::exchange(slot->missed, dropped_errors());
      for (dropped_input& input : slot->dropped) missed.add(input.taken());
      auto dropping = out.drop(std::move(missed));
      co_await dropping;
    }
    if (!slot->why.ok()) {
      out.hold(tail_of(whole, slot->delivered));
      co_await fail(slot->why);
    }
    if (slot->delivered < whole.size()) {
      bool chosen_now = !link->replaying();  // a replayed choice is not logged again: an earlier mark includes it
      std::uint32_t n = link->choose(std::min(whole.size() - slot->delivered, out.ask()));
      block part = tail_of(whole, slot->delivered).first(n);
      std::uint64_t first = slot->first + slot->delivered;
      if (chosen_now) link->log.add(first);
      if (chosen_now) link->log.add(n);
      link->done.emplace_back(first, n);
      link->ring->hand_on(slot, n);
      co_yield part;
    }
    if (slot->delivered >= whole.size()) link->ring->release(slot);
  }
  auto dropping = out.drop(link->ring->missed_at_end());
  co_await dropping;
  status why = link->ring->why();
  if (why.ok() && link->replaying()) why = damaged_position();  // a choice of an element that does not exist
  if (!why.ok()) co_await fail(std::move(why));
}

}  // namespace

erased_stream read_unordered(outlet out, channel_memory memory, erased_stream in, channel_options options) {
  SLUICE_REQUIRES(options.follows.knob, "the channel has no knob");
  saved<unordered_link> link;
  link->in = std::move(in);
  return read_as_finished(out, std::move(link), std::move(memory), std::move(options));
}

}  // namespace sluice::lib
