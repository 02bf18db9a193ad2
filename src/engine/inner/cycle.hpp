// SPDX-License-Identifier: Apache-2.0
// The slots of an interleave: the open inner streams, the slot that is visited, and their saved form.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "ahead/collected_errors.hpp"
#include "ahead/ordered_reader.hpp"
#include "coro/positions/inner_position.hpp"
#include "engine/inner/inner_plans.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

inline constexpr std::uint64_t kToTheEnd =
    ~std::uint64_t{0} >> 8;  // the block length of flat_map, which reads one input until it ends

/// A fixed array of slots, and the place in it. It follows tf.data's rule exactly (interleave.hpp).
/// Costs: the work for an element or an input does not depend on the number of slots; save() and load() do.
class cycle {
 public:
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  /// The largest number of slots in a plan. An empty slot takes some 200 bytes.
  static constexpr std::int64_t kSlotsMax = 1 << 16;
  /// The largest number of slots that may_wait() examines before it returns true.
  static constexpr std::size_t kLookedAtMax = 16;

  struct slot {
    erased_stream in;
    std::uint64_t ordinal = 0;  ///< the ordinal of its outer element
    std::string restored;
    bool open = false;
    std::shared_ptr<reader_link> ahead;              ///< its channel, if parallel
    std::uint32_t older = kNoSlot, newer = kNoSlot;  ///< its neighbours among the open slots, by ordinal
  };
  /// A replacement that works before its slot is visited (parallel only). A position contains only its choices: its
  /// outer element does not count as `taken` yet, and a resume reads it again.
  struct replacement {
    result<inner_stream> inner;
    std::uint64_t ordinal = 0;
    dropped_errors missed;      ///< errors before its outer element; they count when the slot is visited
    opening_log::place before;  ///< the log's place before it was opened
  };
  std::vector<slot> slots;
  inner_openings openings;
  std::deque<replacement> opened_ahead;  ///< in outer order: empty slots receive them in the order of their visits
  /// errors that `outer` has reported recently; null: `outer` reports to the run
  std::unique_ptr<collected_errors> outer_missed;
  bool outer_over = false;  ///< it ended or failed while inputs were opened ahead; if it failed:
  status outer_why;
  std::size_t at = 0;       ///< the slot being visited
  std::uint64_t left = 0;   ///< elements that it may still deliver in this visit
  std::uint64_t taken = 0;  ///< outer elements consumed, including those whose inner streams have ended
  bool outer_ended = false;

  /// Collects the errors of `outer`, because outer elements will be requested before their slots are visited.
  void collect_errors_of(erased_stream& outer, std::shared_ptr<run_context> run) {
    outer_missed = std::make_unique<collected_errors>(std::move(run));
    outer.stage()->set_error_sink(outer_missed.get());
  }
  dropped_errors take_outer_missed() { return outer_missed ? outer_missed->take() : dropped_errors(); }
  void start(std::size_t width, std::uint64_t run) {
    slots.resize(width);
    left = run;
  }
  /// Returns true if an empty slot has no replacement yet, and one may exist.
  bool wants_ahead() const { return slots.size() - open_count_ > opened_ahead.size() && !outer_over && !outer_ended; }
  /// Returns true if an empty slot can be filled only by another outer element.
  bool needs_outer() const { return opened_ahead.empty() && !outer_over && !outer_ended; }
  /// Declares that no outer element follows the first `n`.
  void end_outer(std::uint64_t n) {
    outer_ended = true;
    taken = n;
  }
  /// Returns the input for the slot that is visited. REQUIRES: !opened_ahead.empty().
  replacement take_replacement() {
    SLUICE_REQUIRES(!opened_ahead.empty(), "no input is opened");
    replacement next = std::move(opened_ahead.front());
    opened_ahead.pop_front();
    taken = next.ordinal + 1;
    return next;
  }
  bool restored() const { return !slots.empty(); }
  /// Returns true if the restored state has these dimensions. A forged position may have others.
  bool fits(std::size_t width, std::uint64_t run) const { return slots.size() == width && left <= run; }
  slot& current() { return slots[at]; }
  std::uint32_t number_of(const slot& s) const { return static_cast<std::uint32_t>(&s - slots.data()); }
  void advance(std::uint64_t run) {
    if (++at == slots.size()) at = 0;
    left = run;
  }
  bool idle() const { return open_count_ == 0; }
  bool full() const { return open_count_ == slots.size(); }
  /// Returns the ordinal of the oldest outer element whose inner stream is open; `none` if all are closed.
  std::uint64_t oldest(std::uint64_t none) const {
    return oldest_ == kNoSlot ? none : std::min(none, slots[oldest_].ordinal);
  }
  /// Returns the oldest slot of a restored position that is not opened yet; null if all are.
  slot* oldest_unopened() {
    while (unopened_ != kNoSlot && slots[unopened_].in) unopened_ = slots[unopened_].newer;
    return unopened_ == kNoSlot ? nullptr : &slots[unopened_];
  }
  /// Opens a slot. `ordinal` is higher than those of all open slots, or the slot's own.
  void open(slot& s, inner_stream&& inner, std::uint64_t ordinal) {
    s.in = std::move(inner.in);
    s.in.may_go_back();
    s.ordinal = ordinal;
    if (!s.open) append(s);
    s.ahead = std::move(inner.ahead);
    // A channel that was opened ahead has started. It needs no number: only the sloppy interleave, which opens none
    // ahead, asks which channel has called.
    if (!s.ahead || s.ahead->started()) return;
    s.ahead->set_number(number_of(s));
    s.ahead->start();
  }
  void close(slot& s) {
    s.in.close();
    s.ahead.reset();
    remove(s);
  }

  /// Moves elements that are ready to `to`, visiting the slots in order, until `want` elements are present or the next
  /// slot has none ready.
  std::uint32_t gather(char* to, std::uint32_t have, std::uint32_t want, std::uint64_t run, std::size_t size) {
    while (have < want) {
      slot& s = slots[at];
      if (!s.in) break;
      std::uint32_t n =
          s.in.move_to(to + have * size, static_cast<std::uint32_t>(std::min<std::uint64_t>(left, want - have)));
      if (n == 0) break;
      have += n;
      if (run != kToTheEnd && (left -= n) == 0) advance(run);
    }
    return have;
  }

  void save(position_writer& w) {
    w.number(at);
    w.number(left);
    w.number(taken);
    w.number(outer_ended);
    w.number(slots.size());
    for (slot& s : slots) {
      w.number(s.open);
      if (!s.open) continue;
      w.number(s.ordinal);
      save_inner(w, s.in, s.restored);
    }
    openings.save(w, opened_ahead.empty() ? openings.here() : opened_ahead.front().before);
  }
  void load(position_reader& r) {
    at = r.number();
    left = r.number();
    taken = r.number();
    outer_ended = r.number() != 0;
    std::size_t width = r.count();
    // no plan has this many slots, and a slot takes more memory than its bytes in a position
    if (width > kSlotsMax) return r.fail();
    slots.resize(width);
    for (slot& s : slots) {
      s.open = r.number() != 0;
      if (!s.open) continue;
      s.ordinal = r.number();
      s.restored = r.text();
    }
    openings.load(r);
    link_restored();
    bool fresh = at == 0 && left == 0 && taken == 0 && !outer_ended;  // saved before the first request, without slots
    if (slots.empty() ? !fresh : at >= slots.size() || left == 0) r.fail();
  }
  /// Returns true if the next element may have to be waited for. Slots that need not wait may have ended, so several
  /// slots are examined. Beyond kLookedAtMax the answer is true, which costs the reader only a shorter block.
  bool may_wait() const {
    for (std::size_t i = 0, k = at; i != slots.size(); ++i, k = k + 1 == slots.size() ? 0 : k + 1) {
      const slot& s = slots[k];
      if (i == kLookedAtMax || (s.open && s.in && s.in.may_wait())) return true;
      if (s.open && s.in && s.in.left()) return false;
    }
    return false;
  }

 private:
  void append(slot& s) {
    std::uint32_t k = number_of(s);
    s.open = true;
    s.older = newest_;
    s.newer = kNoSlot;
    (newest_ == kNoSlot ? oldest_ : slots[newest_].newer) = k;
    newest_ = k;
    ++open_count_;
  }
  void remove(slot& s) {
    s.open = false;
    (s.older == kNoSlot ? oldest_ : slots[s.older].newer) = s.newer;
    (s.newer == kNoSlot ? newest_ : slots[s.newer].older) = s.older;
    --open_count_;
  }
  void link_restored() {
    std::vector<slot*> open;
    for (slot& s : slots)
      if (s.open) open.push_back(&s);
    std::sort(open.begin(), open.end(), [](const slot* a, const slot* b) { return a->ordinal < b->ordinal; });
    for (slot* s : open) append(*s);
    unopened_ = oldest_;
  }

  std::size_t open_count_ = 0;
  std::uint32_t oldest_ = kNoSlot, newest_ = kNoSlot;  ///< of the open slots, by ordinal
  std::uint32_t unopened_ = kNoSlot;                   ///< after a restore: the oldest slot that is not opened yet
};

/// Opens the inner streams of a restored cycle again, in order. The outer stream is at the oldest outer element whose
/// inner stream was open; outer elements whose inner streams have ended since are skipped.
/// Errors: data_loss: the restored state is no cycle of `width` slots with visits of at most `run`.
task<void> reopen(cycle& c, erased_stream& outer, const inner_plans& inners, std::size_t width, std::uint64_t run);

/// Opens the plan of the outer element in `b`. If `b` has none, records the end of `outer`.
void take_outer(cycle& c, erased_stream& outer, const inner_plans& inners, erased_stream::attempt& b);
/// Opens replacements for all empty slots and starts them, as far as `outer` delivers elements without waiting.
task<void> open_ahead(cycle& c, erased_stream& outer, const inner_plans& inners);
/// Opens replacements until the slot that is visited need not wait, and sleeps in between. All their channels share
/// inners.signal().
task<void> wait_opening_ahead(cycle& c, erased_stream& outer, const inner_plans& inners);

}  // namespace sluice::lib
