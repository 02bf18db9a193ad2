// SPDX-License-Identifier: Apache-2.0
// Which input element each place of a shuffle's buffer holds, as ordinals: a pure function of seed, size and draws.
//
// With B places and counter-based draws, draw t takes place j = draw(seed, t, B), which input element B + t then fills.
// So place j holds the input of the last draw that hit j; a scan over the draws *backwards* from t finds all places
// after some B·ln B draws (12 buffers for 65,536; 1.6 ms), however large t is. Once the input has ended, at length N,
// draws N − B, N − B + 1 … choose among the m = B, B − 1 … elements left, and the last one fills the hole.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/base/random.hpp"

namespace sluice::lib {

class shuffle_table {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  /// After `draws` draws over an input of length `total` (kUnknown while it has not ended).
  shuffle_table(std::uint64_t seed, std::uint64_t size, std::uint64_t draws, std::uint64_t total);

  std::size_t held() const { return ordinals_.size(); }
  std::uint64_t ordinal(std::uint32_t slot) const { return ordinals_[slot]; }
  /// Ordinal of the next input element that comes in.
  std::uint64_t next() const { return next_; }
  /// No element held is older than this: the input's marks from here on are needed. Looks at all places, but only
  /// once in a quarter of a buffer of draws, so that a draw costs the same however large the buffer is.
  std::uint64_t held_from() {
    if (draws_ >= look_again_) {
      oldest_ = oldest();
      look_again_ = draws_ + held() / 4 + 1;
    }
    return oldest_;
  }
  /// Places in the order of what they hold.
  std::vector<std::uint32_t> slots_by_ordinal() const;

  /// Places that the first fill has not reached.
  std::uint64_t missing() const { return size_ - ordinals_.size(); }
  /// The first fill: the next n input elements are in the next n places.
  void filled(std::uint64_t n);
  /// The first fill found only `total` elements.
  void shorten(std::uint64_t total);
  /// The next draw while the input goes on: the place to take from and to fill with the next input element.
  std::uint32_t exchange() {
    auto slot = static_cast<std::uint32_t>(draw(seed_, draws_++, size_));
    ordinals_[slot] = next_++;
    return slot;
  }
  void ended() { size_ = ordinals_.size(); }
  /// The next draw after the input's end: the place to take from, which the last element fills.
  std::uint32_t remove() {
    auto slot = static_cast<std::uint32_t>(draw(seed_, draws_++, ordinals_.size()));
    ordinals_[slot] = ordinals_.back();
    ordinals_.pop_back();
    return slot;
  }

 private:
  void scan_back();
  std::uint64_t oldest() const;

  std::uint64_t seed_;
  std::uint64_t size_;
  std::uint64_t draws_ = 0;
  std::uint64_t next_ = 0;
  std::uint64_t oldest_ = 0;
  std::uint64_t look_again_ = 0;
  std::vector<std::uint64_t> ordinals_;
};

}  // namespace sluice::lib
