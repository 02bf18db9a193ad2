// SPDX-License-Identifier: Apache-2.0
// A permutation of the numbers 0 … n - 1 that is drawn by a seed, and known by no more than the seed and n.
//
//   index_permutation order(n, seed);
//   order[i]                                     // the i-th number of the permutation, for i < n
//
// An unbalanced Feistel network over the words of b bits, the fewest that hold n - 1: its rounds change one part of the word by a
// function of the other, so each round, and all of them, are bijections whatever that function is. A word that is not below n
// goes through the network again until one is (cycle walking): that keeps the bijection, for every n, and takes two turns at most in
// the mean, since n is more than half of 2^b. tf.data's cipher drops the highest bit of a size 2^k + 1; here b is derived from
// n - 1 itself, and tests/engine/index_permutation_test.cpp looks at every number.
// Cost:  40 to 80 ns; of n up to 1,024 some 150.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sluice/base/random.hpp"

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
    for (unsigned r = 0; r != rounds_; ++r) keys_[r] = derive(seed, r);
  }

  std::uint64_t size() const { return n_; }
  /// REQUIRES: i < size().
  std::uint64_t operator[](std::uint64_t i) const {
    do i = turned(i);
    while (i >= n_);
    return i;
  }

 private:
  // Where a part has a few bits only, a round says little: more of them until no test of all orders of small n sees a difference.
  static constexpr std::uint64_t kSmall = 1 << 10;
  static constexpr unsigned kRounds = 10, kRoundsOfSmall = 24;

  std::uint64_t turned(std::uint64_t word) const {
    std::uint64_t low = word & low_mask_, high = word >> low_bits_;
    for (unsigned r = 0; r != rounds_; r += 2) {
      high ^= mix(low ^ keys_[r]) & high_mask_;
      low ^= mix(high ^ keys_[r + 1]) & low_mask_;
    }
    return high << low_bits_ | low;
  }

  std::uint64_t n_;
  unsigned low_bits_;
  std::uint64_t low_mask_, high_mask_;
  unsigned rounds_;
  std::array<std::uint64_t, kRoundsOfSmall> keys_{};
};

}  // namespace sluice::lib
