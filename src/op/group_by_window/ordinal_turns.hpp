// SPDX-License-Identifier: Apache-2.0
// Restores ascending ordinals of which only the lower halves are stored: 4 bytes an element instead of 8.
//
//   ordinal_turns turns(32, first);                     // the ordinal of the first element
//   turns.begin(n, upper);                              // the ordinals from the n-th element on have this upper half
//   ordinal_turns::reader at(turns);                    // for k = 0, 1, 2 …
//   at.whole(k, lower[k])
//
// Thread: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

class ordinal_turns {
 public:
  ordinal_turns() = default;
  /// `bits`: of the lower half, 32 at most. `first`: the ordinal of the first element.
  ordinal_turns(int bits, std::uint64_t first) : bits_(bits), upper_(first >> bits) {}

  /// Declares that the elements from number `n` on have the upper half `upper`. REQUIRES: both ascend from call to
  /// call.
  void begin(std::size_t n, std::uint64_t upper) {
    SLUICE_REQUIRES(turns_.empty() || (n >= turns_.back().element && upper > turns_.back().upper),
                    "turns are added in their order");
    turns_.push_back({n, upper});
  }
  /// Returns the ordinal of the first element.
  std::uint64_t first(std::uint32_t lower) const { return upper_ << bits_ | (lower & mask()); }

  /// Reads the ordinals in order.
  class reader {
   public:
    explicit reader(const ordinal_turns& t) : of_(t), upper_(t.upper_) {}
    /// Returns the ordinal of element k. REQUIRES: k does not descend from call to call.
    std::uint64_t whole(std::size_t k, std::uint32_t lower) {
      SLUICE_REQUIRES(next_ == 0 || of_.turns_[next_ - 1].element <= k, "an element before the last one is read");
      for (; next_ != of_.turns_.size() && of_.turns_[next_].element <= k; ++next_) upper_ = of_.turns_[next_].upper;
      return upper_ << of_.bits_ | (lower & of_.mask());
    }

   private:
    const ordinal_turns& of_;
    std::uint64_t upper_;
    std::size_t next_ = 0;
  };

 private:
  struct turn {
    std::size_t element = 0;
    std::uint64_t upper = 0;
  };

  std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }

  int bits_ = 32;
  std::uint64_t upper_ = 0;
  std::vector<turn> turns_;  ///< one for four billion elements of the input
};

}  // namespace sluice::lib
