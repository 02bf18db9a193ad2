// SPDX-License-Identifier: Apache-2.0
// A permutation of the numbers 0 … n - 1. A seed selects it, and the seed and n are all of its state.
//
//   index_permutation order(n, seed);
//   order[i]                                     // the i-th number of the permutation, for i < n
//   order.numbers(i, to)                         // this number and the following ones, until `to` is full
//
// The permutation is an unbalanced Feistel network over words of b bits, the fewest that can represent n - 1. Each
// round changes one part of the word by a function of the other part. So each round, and their sequence, is a bijection
// for any such function. The function is that of Philox (Salmon and others, 2011): both halves of a product of 32 by 32
// bits, with keys, which the vector units of any machine can multiply. A word that is not below n passes through the
// network again until it is (cycle walking). This keeps the bijection for every n, and takes at most two passes on
// average, since n is more than half of 2^b. tf.data's cipher drops the highest bit of a size 2^k + 1. Here b is
// derived from n - 1 itself, and tests/engine/index_permutation_test.cpp checks every number.
// Cost:  20 to 40 ns a number, and about 80 for n up to 1,024, mostly latency of multiplications. Many numbers at once
//        take a quarter of that each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/base/assert.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib {

class index_permutation {
 public:
  /// REQUIRES: 1 ≤ n ≤ 2⁶³.
  index_permutation(std::uint64_t n, std::uint64_t seed)
      : n_(n),
        low_bits_(static_cast<unsigned>(std::bit_width(n - 1)) / 2),
        low_mask_((std::uint64_t{1} << low_bits_) - 1),
        high_mask_((std::uint64_t{1} << (static_cast<unsigned>(std::bit_width(n - 1)) - low_bits_)) - 1),
        rounds_(n > kSmall ? kRounds : kRoundsOfSmall) {
    SLUICE_REQUIRES(n >= 1 && n <= std::uint64_t{1} << 63, "a permutation has from one to 2^63 numbers");
    for (unsigned r = 0; r != rounds_; ++r)
      keys_[r] = {derive(seed, 2 * r), static_cast<std::uint32_t>(derive(seed, 2 * r + 1)) | 1};
  }

  std::uint64_t size() const { return n_; }
  /// REQUIRES: i < size().
  std::uint64_t operator[](std::uint64_t i) const {
    SLUICE_REQUIRES(i < n_, "the number is outside of the permutation");
    do i = turned(i);
    while (i >= n_);
    return i;
  }
  /// REQUIRES: first + to.size() ≤ size().
  void numbers(std::uint64_t first, std::span<std::uint64_t> to) const {
    SLUICE_REQUIRES(first <= n_ && to.size() <= n_ - first, "the numbers are outside of the permutation");
    for (std::size_t at = 0; at < to.size(); at += kTogether)
      walk_together(first + at, to.subspan(at, std::min(kTogether, to.size() - at)));
  }

 private:
  static constexpr std::size_t kTogether = 64, kLanes = 8;
  // If a part has only a few bits, one round mixes little. Small n get more rounds, enough that no test of all orders
  // sees a difference.
  static constexpr std::uint64_t kSmall = 1 << 10;
  static constexpr unsigned kRounds = 10, kRoundsOfSmall = 24;

  struct round_key {
    std::uint64_t sum = 0;
    std::uint32_t factor = 0;  // odd
  };

  /// REQUIRES: part < 2³².
  static std::uint64_t changed_by(std::uint64_t part, round_key key) {
    SLUICE_REQUIRES(part >> 32 == 0, "a part has at most 32 bits");
    const std::uint64_t product = (part & 0xffff'ffff) * key.factor + key.sum;
    return product >> 32 ^ product;
  }

  std::uint64_t turned(std::uint64_t word) const {
    std::uint64_t low = word & low_mask_, high = word >> low_bits_;
    for (unsigned r = 0; r != rounds_; r += 2) {
      high ^= changed_by(low, keys_[r]) & high_mask_;
      low ^= changed_by(high, keys_[r + 1]) & low_mask_;
    }
    return high << low_bits_ | low;
  }

  /// The same for several words at once, so that their multiplications overlap.
  void turn_lanes(std::uint64_t* words) const {
    std::array<std::uint64_t, kLanes> low, high;
    const std::uint64_t low_mask = low_mask_, high_mask = high_mask_;
    for (std::size_t l = 0; l != kLanes; ++l) low[l] = words[l] & low_mask_, high[l] = words[l] >> low_bits_;
    for (unsigned r = 0; r != rounds_; r += 2) {
      const round_key first = keys_[r], second = keys_[r + 1];
      for (std::size_t l = 0; l != kLanes; ++l) high[l] ^= changed_by(low[l], first) & high_mask;
      for (std::size_t l = 0; l != kLanes; ++l) low[l] ^= changed_by(high[l], second) & low_mask;
    }
    for (std::size_t l = 0; l != kLanes; ++l) words[l] = high[l] << low_bits_ | low[l];
  }
  /// Numbers that are not below n after a pass go through the next pass together.
  void walk_together(std::uint64_t first, std::span<std::uint64_t> to) const {
    std::array<std::uint64_t, kTogether> words{};  // the last lanes may contain unused words
    std::array<std::uint8_t, kTogether> places;
    std::size_t left = to.size();
    for (std::size_t i = 0; i != left; ++i) words[i] = first + i, places[i] = static_cast<std::uint8_t>(i);
    while (left != 0) {
      for (std::size_t i = 0; i < left; i += kLanes) turn_lanes(&words[i]);
      std::size_t again = 0;
      for (std::size_t i = 0; i != left; ++i) {
        to[places[i]] = words[i];
        words[again] = words[i], places[again] = places[i];
        again += words[i] >= n_;
      }
      left = again;
    }
  }

  std::uint64_t n_;
  unsigned low_bits_;
  std::uint64_t low_mask_, high_mask_;
  unsigned rounds_;
  std::array<round_key, kRoundsOfSmall> keys_{};
};

}  // namespace sluice::lib
