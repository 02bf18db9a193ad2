// SPDX-License-Identifier: Apache-2.0
// The stage that reads a channel in order: shared by prefetch, parallel map and parallel interleave.
//
// The stage adds no record to a position: its position equals its input's, exactly as without a channel. So a
// checkpoint fits the plan whether or not the resumed run has the channel.
#pragma once

#include <memory>

#include "ahead/open_channel.hpp"
#include "ahead/ordered_ring.hpp"
#include "coro/positions/position_records.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

/// The reader's end of an ordered ring. It owns the input while no pump does, and knows the ordinal of the next element
/// to deliver. If blocks are light (runtime/sites/cost_estimate.hpp) it has no ring: the reader requests directly from
/// the input. This mode begins at once if other channels of the same stage have learned that blocks are light, or
/// later, when the pump returns the input. When the costs change, the link uses a ring again.
class reader_link {
 public:
  reader_link(channel_memory memory, erased_stream in, const element_type& out, channel_options options);
  reader_link(const reader_link&) = delete;
  ~reader_link();

  /// Called when the stream is opened. Starts the pump, unless it runs already or the reader uses the input directly.
  void start();
  /// Serves the stage's first request. `passed`: the number of inputs to skip first. REQUIRES: !started().
  void start_pumping(std::uint64_t passed);
  bool started() const { return ring_ != nullptr; }
  /// Returns true if every input has an output, so that skipping outputs is the same as skipping inputs.
  bool one_to_one() const { return !options_.pump.may_drop; }
  /// Reports that n of the elements to be skipped did not exist.
  void passed_less(std::uint64_t n) {
    ordinal_ -= n;
    last_.pass_over_less(n);
  }
  /// Sets the number by which the ready_signal reports this channel. REQUIRES: not started.
  void set_number(std::uint32_t n) {
    SLUICE_REQUIRES(!started(), "a channel is numbered before it starts");
    number_ = n;
  }
  ordered_ring& ring() { return *ring_; }
  /// Returns true if the reader uses the input directly.
  bool is_direct() { return (direct_ && (memory_.costs().is_light() || stays_)) || decide(); }
  /// REQUIRES: is_direct().
  erased_stream& input() {
    SLUICE_REQUIRES(!ring_, "a pump has the input");
    return in_;
  }
  const slot_computation* computation() const { return options_.pump.computation.get(); }
  /// Measure from time to time the cost of a block, with the reader's clock. Call them before a request, after it, and
  /// when the outputs are computed.
  void asks() {
    if (timed_elements_) was_used();
    is_timed_ = ++direct_blocks_ % timed_blocks_ == 0;
    if (is_timed_) at_ = memory_.run()->time->now();
  }
  void has_pulled(const block& b) {
    if (is_timed_) was_pulled(b);
  }
  void has_made(const block& b) {
    if (is_timed_) was_made(b);
  }
  /// Called at the end of the ring. Returns true if the pump has returned the input, which the reader uses directly
  /// from now on. `missed`: errors that come before the input's next elements.
  bool takes_input_back(dropped_errors& missed);
  bool busy() const { return ring_ && ring_->busy(); }
  /// Called when the reader of this channel waits, although not in receive() (slot_supply::urge).
  void urge() {
    if (ring_) ring_->urge();
  }
  /// A slot is about to be delivered: its mark is at or before all of its elements.
  void reached(ring_slot& s) {
    if (s.taken) last_ = std::move(*s.taken);
  }
  void delivered_to(std::uint64_t ordinal) { ordinal_ = ordinal; }

  /// Returns the position of the input at the next input element whose output is not delivered.
  mark place();
  void restore(position_records& from) { in_.restore(from); }
  std::uint64_t consumed() const { return ring_ ? ordinal_ : in_.consumed(); }
  bool may_wait() const {
    if (ring_) return !ring_->ready();
    if (!direct_) return true;
    return !options_.signal && in_.may_wait();  // no signal reports that an input without a channel is ready
  }
  const stream_base* input_stream() const { return ring_ ? nullptr : &in_; }

 private:
  bool decide();
  void begin_direct();
  void was_used();
  void was_pulled(const block& b);
  void was_made(const block& b);

  static constexpr std::uint32_t kStayFirst = 64, kStayMost = 1 << 14, kTimedBlocks = 16;
  static constexpr auto kStayTime = std::chrono::milliseconds(100);
  static constexpr auto kLongBlock =
      std::chrono::microseconds(20);  // each block that takes longer is timed: the clock costs little in comparison
  channel_memory memory_;
  erased_stream in_;
  const element_type& out_;
  channel_options options_;
  std::uint32_t number_ = ready_signal::kNobody;
  std::shared_ptr<ordered_ring> ring_;
  bool direct_ = false;
  bool stays_ = false;                            ///< at any cost: for a minimum number of blocks, or kStayTime
  std::uint32_t direct_blocks_ = 0;               ///< blocks since the input is used directly
  std::uint32_t direct_blocks_min_ = kStayFirst;  ///< doubled each time
  std::uint32_t timed_blocks_ = 1;                ///< one block in this many is timed
  time_point direct_since_{};
  bool is_timed_ = false;  ///< the current block is timed
  std::uint32_t timed_elements_ = 0;
  time_point at_{};            ///< time of the last event of a timed block
  std::uint64_t ordinal_ = 0;  ///< the next input whose output is not delivered
  mark last_;                  ///< the newest mark at or before it
};

/// For a stage that waits for any of n channels. If all of them wait for memory, the first continues without it; one is
/// enough. `link_at(i)`: the i-th channel; null if it has none, or has ended.
template <class LinkAt> void urge_one(std::size_t n, const LinkAt& link_at) {
  reader_link* first = nullptr;
  for (std::size_t i = 0; i != n; ++i) {
    reader_link* link = link_at(i);
    if (!link) continue;
    if (link->busy()) return;
    if (!first) first = link;
  }
  if (first) first->urge();
}

/// Returns the reading stage of a link. If no element may be dropped, its position equals that of the input.
erased_stream read_ahead(outlet out, std::shared_ptr<reader_link> link);

}  // namespace sluice::lib
