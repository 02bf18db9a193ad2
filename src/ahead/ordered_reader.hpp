// SPDX-License-Identifier: Apache-2.0
// The stage that reads a channel in order: shared by prefetch, parallel map and parallel interleave.
//
// It has no record in a position: its position is that of its input, exactly as without a channel. So a checkpoint fits
// the plan whether or not the resumed run has the channel.
#pragma once

#include <memory>

#include "ahead/open_channel.hpp"
#include "ahead/ordered_ring.hpp"
#include "coro/position_records.hpp"

namespace sluice::lib {

/// The reader's end of an ordered ring: owns the input until the pump is started, and knows how far delivery has come.
class reader_link {
 public:
  reader_link(channel_memory memory, erased_stream in, const element_type& out, channel_options options);
  reader_link(const reader_link&) = delete;
  ~reader_link();

  /// Sets the pump working; the stage does it at its first request, an interleave as soon as the stream is opened.
  /// `passed`: so many inputs are passed over first.
  void start(std::uint64_t passed = 0);
  bool started() const { return ring_ != nullptr; }
  /// Every input has an output, so passing over outputs is passing over inputs.
  bool one_to_one() const { return !options_.pump.may_drop; }
  /// So many of those that were to be passed over did not exist.
  void passed_less(std::uint64_t n) { ordinal_ -= n; }
  /// Sets the number by which the ready_signal reports this channel. REQUIRES: not started.
  void set_number(std::uint32_t n) { number_ = n; }
  ordered_ring& ring() { return *ring_; }
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

  /// Where the input stands: at the next input whose output is not delivered.
  mark place();
  void restore(position_records& from) { in_.restore(from); }
  std::uint64_t consumed() const { return ring_ ? ordinal_ : in_.consumed(); }
  bool may_wait() const { return !ring_ || !ring_->ready(); }

 private:
  channel_memory memory_;
  erased_stream in_;
  const element_type& out_;
  channel_options options_;
  std::uint32_t number_ = ready_signal::kNobody;
  std::shared_ptr<ordered_ring> ring_;
  std::uint64_t ordinal_ = 0;  ///< of the next input whose output is not delivered
  mark last_;                  ///< the newest mark at or before it
};

/// For a stage that waits for any of n channels: where all of them wait for memory, the first goes on without it, and one is
/// enough. `link_at(i)`: the i-th channel in turn; null: it has none, or has ended.
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
