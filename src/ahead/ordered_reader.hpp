// SPDX-License-Identifier: Apache-2.0
// The stage that reads a channel in order: shared by prefetch, parallel map and parallel interleave.
//
// The stage adds no record to a position: its position is that of its input, exactly as without a channel. So a
// checkpoint fits the plan whether or not the resumed run has the channel.
#pragma once

#include <memory>

#include "ahead/open_channel.hpp"
#include "ahead/ordered_ring.hpp"
#include "coro/position_records.hpp"

namespace sluice::lib {

/// The reader's end of an ordered ring: owns the input while no pump does, and knows how far delivery has come. Where blocks
/// are light (runtime/sites/cost_estimate.hpp) it has no ring: the reader asks the input itself. It gets there with what other
/// channels of the same stage have learned, or when the pump returns the input; and goes back to a ring when the costs have
/// changed.
class reader_link {
 public:
  reader_link(channel_memory memory, erased_stream in, const element_type& out, channel_options options);
  reader_link(const reader_link&) = delete;
  ~reader_link();

  /// Called when the stream is opened. Starts the pump, unless it runs already or the reader asks the input itself.
  void start();
  /// Serves the stage's first request. `passed`: the number of inputs to skip first. REQUIRES: !started().
  void start_pumping(std::uint64_t passed);
  bool started() const { return ring_ != nullptr; }
  /// Every input has an output, so passing over outputs is passing over inputs.
  bool one_to_one() const { return !options_.pump.may_drop; }
  /// Reports that n of the elements to be skipped did not exist.
  void passed_less(std::uint64_t n) { ordinal_ -= n; }
  /// Sets the number by which the ready_signal reports this channel. REQUIRES: not started.
  void set_number(std::uint32_t n) { number_ = n; }
  ordered_ring& ring() { return *ring_; }
  /// Does the reader ask the input itself?
  bool is_direct() { return (direct_ && (memory_.costs().is_light() || stays_)) || decide(); }
  /// REQUIRES: is_direct().
  erased_stream& input() { return in_; }
  const slot_computation* computation() const { return options_.pump.computation.get(); }
  /// Now and then the reader's clock learns what a block costs: call them before a request, behind it, and when the outputs
  /// are made.
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
  /// The ring is over: has the pump returned the input? The reader asks it from now on. `missed`: errors in front of what
  /// it gives.
  bool takes_input_back(dropped_errors& missed);
  bool busy() const { return ring_ && ring_->busy(); }
  /// The reader of this channel waits, though not in it (slot_supply::urge).
  void urge() {
    if (ring_) ring_->urge();
  }
  /// A slot is about to be delivered: its mark is at or before everything in it.
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
    return !options_.signal && in_.may_wait();  // no signal reports that an input that is asked directly is ready
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
      std::chrono::microseconds(20);  // of these each is timed: a clock costs little then
  channel_memory memory_;
  erased_stream in_;
  const element_type& out_;
  channel_options options_;
  std::uint32_t number_ = ready_signal::kNobody;
  std::shared_ptr<ordered_ring> ring_;
  bool direct_ = false;
  bool stays_ = false;                            ///< whatever the costs: for a minimum of blocks, or kStayTime
  std::uint32_t direct_blocks_ = 0;               ///< since the input is asked directly
  std::uint32_t direct_blocks_min_ = kStayFirst;  ///< twice as many each time
  std::uint32_t timed_blocks_ = 1;                ///< one block in this many is timed
  time_point direct_since_{};
  bool is_timed_ = false;  ///< the block that was asked for
  std::uint32_t timed_elements_ = 0;
  time_point at_{};            ///< of the last event of a timed block
  std::uint64_t ordinal_ = 0;  ///< of the next input whose output is not delivered
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

/// The reading stage of a link. Where no element may be dropped it stands where the input stands.
erased_stream read_ahead(outlet out, std::shared_ptr<reader_link> link);

}  // namespace sluice::lib
