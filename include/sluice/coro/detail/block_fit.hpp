// SPDX-License-Identifier: Apache-2.0
// Limits the number of elements in a block, so that a block of large elements has about as many bytes as was demanded.
//
//   block_fit fit(out.type());
//   … make at most fit.at_most(out.wanted()) elements …
//   fit.made(block, out.wanted_bytes());
//
// A demand has a number of elements and an approximate number of bytes. A stage does not know the size of a string
// before it has made it. So it learns the mean size from the blocks it has made: the first block has one element, and
// each block at most twice as many as the largest before it. Types of at most 1 KiB that own no other memory have no
// limit, and nothing is measured.
// Thread: not safe for concurrent use; a member of one stage.
// Cost:   nothing for small types; otherwise one call of the type's `footprint` kernel per block.
#pragma once

#include <cstdint>

#include "sluice/element/slab.hpp"

namespace sluice::lib {

class block_fit {
 public:
  /// `makes`: the stage computes its elements, instead of moving those of its input, so that their sizes are not known
  /// in advance. A block then has at most 32 elements of a type whose size must be measured.
  explicit block_fit(const element_type& t, bool makes = false);

  /// The number of elements to make when `wanted` are demanded; at least 1 if `wanted` is.
  std::uint32_t at_most(std::uint32_t wanted) const noexcept { return wanted < most_ ? wanted : most_; }
  /// Call it with each block that was made, before it is delivered, and with the number of bytes demanded for it.
  void made(const block& b, std::uint32_t wanted_bytes) {
    if (most_ != kUnlimited) learn(b, wanted_bytes);
  }

 private:
  static constexpr std::uint32_t kUnlimited = ~0u;
  void learn(const block& b, std::uint32_t wanted_bytes);

  std::uint32_t most_;       ///< the most that at_most() returns
  std::uint32_t grown_max_;  ///< upper limit of most_
  /// Estimated size of an element. Raised at once to the mean of a block; lowered by a sixteenth of the difference.
  std::size_t each_bytes_ = 0;
};

}  // namespace sluice::lib
