// SPDX-License-Identifier: Apache-2.0
#include "op/interleave/sloppy_interleave.hpp"
#include "element/batches/blocks.hpp"
#include "sluice/coro/saved.hpp"

#include "engine/inner/cycle.hpp"

namespace sluice::lib {
namespace {

/// Timing chooses the slot. Each choice is one number, (elements << kSlotBits | slot); 0 elements mean that the slot
/// has ended. A resume from a mark replays the choices since that mark in order.
constexpr unsigned kSlotBits = 20;
constexpr std::uint64_t kSlotMask = (1u << kSlotBits) - 1;

struct sloppy_state {
  cycle c;
  decision_log log;
  std::deque<std::uint64_t> replay;

  void save(position_writer& w) {
    c.save(w);
    w.number(replay.size());
    for (auto d : replay) w.number(d);
    w.log(log.here());
  }
  void load(position_reader& r) {
    c.load(r);
    for (int part = 0; part != 2; ++part)
      for (std::size_t n = r.count(); n; --n) replay.push_back(r.number());
  }
  bool may_wait() const { return c.may_wait(); }

  /// Logs a choice. A replayed choice is not logged again, because a mark taken before it contains it in `replay`.
  void note(std::size_t slot, std::uint64_t elements) {
    if (replay.empty()) return log.add(elements << kSlotBits | slot);
    std::uint64_t replayed = replay.front() >> kSlotBits;
    if (elements >= replayed) replay.pop_front();
    else replay.front() = (replayed - elements) << kSlotBits | slot;
  }
};

/// The slots to ask next, found without examining all of them: a plan may have tens of thousands, most of them waiting
/// for files.
class turns {
 public:
  /// For a cycle that is started or reopened: its empty slots in order, and its open ones from the current slot on.
  turns(const cycle& c, ready_signal* signal) : signal_(signal), waits_(c.slots.size()) {
    for (std::size_t i = 0; i != c.slots.size(); ++i) {
      std::size_t k = (c.at + i) % c.slots.size();
      if (c.slots[k].open) add(static_cast<std::uint32_t>(k));
      if (!c.slots[i].open) empty_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  /// Returns the empty slots, the one that has been empty longest first.
  std::deque<std::uint32_t>& empty() { return empty_; }
  /// Adds a slot that was opened, or that was asked and may have more elements.
  void add(std::uint32_t k) {
    if (waits_[k]) return;
    waits_[k] = true;
    turns_.push_back(k);
  }
  /// Returns an open slot that need not be waited for. If there is none: kNoSlot with channels, which notify when they
  /// have an element; else the current slot, which must be waited for. REQUIRES: a slot is open.
  std::uint32_t take(const cycle& c) {
    if (signal_) signal_->take_callers(*this);
    while (signal_ && !turns_.empty()) {
      std::uint32_t k = remove(0);
      if (c.slots[k].open && !c.slots[k].in.may_wait()) return k;
    }
    if (signal_) return cycle::kNoSlot;
    for (std::size_t i = 0; i < turns_.size() && i != cycle::kLookedAtMax;) {
      const cycle::slot& s = c.slots[turns_[i]];
      if (!s.open) remove(i);  // a replayed choice has closed it
      else if (!s.in.may_wait()) return remove(i);
      else ++i;
    }
    while (!c.slots[turns_.front()].open) remove(0);
    return remove(0);
  }

 private:
  std::uint32_t remove(std::size_t i) {
    std::uint32_t k = turns_[i];
    turns_.erase(turns_.begin() + static_cast<std::ptrdiff_t>(i));
    waits_[k] = false;
    return k;
  }

  ready_signal* signal_;
  std::deque<std::uint32_t> turns_, empty_;
  std::vector<bool> waits_;  ///< by slot: true if it is listed here
};

erased_stream sloppy_interleave_loop(outlet out, saved<sloppy_state> st, erased_stream outer, inner_plans inners,
                                     std::uint32_t width) {
  cycle& c = st->c;
  outer.hold_from(c.oldest(outer.consumed()));
  if (c.restored()) {
    auto opening = reopen(c, outer, inners, width, 1);
    co_await opening;
  } else {
    c.start(width, 1);
  }
  if (inners.parallel()) inners.signal().remember(width);
  turns visits(c, inners.parallel() ? &inners.signal() : nullptr);
  for (;;) {
    while (!visits.empty().empty() && !c.outer_ended) {
      cycle::slot& s = c.slots[visits.empty().front()];
      visits.empty().pop_front();
      while (!s.open && !c.outer_ended) {
        outer.hold_from(c.oldest(outer.consumed()));
        auto b = co_await outer.next_block({0, 1});
        c.taken = outer.consumed();
        if (!b) {
          c.outer_ended = true;
          break;
        }
        auto opened = inners.open(b, outer.consumed() - 1, c.openings);
        if (!opened.ok()) {
          auto settled = inners.gate().settle(out, opened.why(), outer.consumed() - 1);
          co_await settled;
          continue;
        }
        c.open(s, *std::move(opened), outer.consumed() - 1);
        visits.add(c.number_of(s));
      }
    }
    if (c.idle()) break;
    outer.hold_from(c.oldest(outer.consumed()));
    std::size_t chosen;
    std::uint32_t most = out.ask();
    if (!st->replay.empty()) {
      std::uint64_t d = st->replay.front();
      chosen = static_cast<std::size_t>(d & kSlotMask);
      most = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, std::max<std::uint64_t>(1, d >> kSlotBits)));
    } else {
      std::uint64_t seen = inners.signal().count();
      chosen = visits.take(c);
      if (chosen == cycle::kNoSlot) {
        urge_one(c.slots.size(), [&c](std::size_t i) -> reader_link* {
          cycle::slot& s = c.slots[(c.at + i) % c.slots.size()];
          return s.open ? s.ahead.get() : nullptr;
        });
        co_await inners.signal().changed_since(seen);
        continue;
      }
    }
    // Replayed choices are checked only here, because a mark from before the first request has no slots yet.
    if (chosen >= c.slots.size() || !c.slots[chosen].open) co_await fail(damaged_position());
    cycle::slot& s = c.slots[chosen];
    auto b = co_await s.in.next_block({0, most});
    st->note(chosen, b.size());
    c.at = (chosen + 1) % c.slots.size();
    if (!b) {
      c.close(s);
      visits.empty().push_back(static_cast<std::uint32_t>(chosen));
      continue;
    }
    visits.add(static_cast<std::uint32_t>(chosen));
    co_yield b;
    // the delivered elements are destroyed now, because this input may not be asked again for long
    tail_of(b, b.size());
  }
  outer.hold_from(outer.consumed());
}

}  // namespace

erased_stream sloppy_interleave(outlet out, erased_stream outer, inner_plans inners, std::uint32_t width) {
  saved<sloppy_state> st;
  return sloppy_interleave_loop(out, std::move(st), std::move(outer), std::move(inners), width);
}

}  // namespace sluice::lib
