// SPDX-License-Identifier: Apache-2.0
// Parts of blocks, and elements on their way from one room to another.
#pragma once

#include <cstdint>
#include <cstring>

#include "sluice/element/slab.hpp"

namespace sluice::lib {

/// The elements of `whole` from `first` on. What is still live in front of them is dropped: blocks are moved out of from
/// their owner's front.
block tail_of(const block& whole, std::uint32_t first);

/// Moves n elements to uninitialised room; the sizes of numbers, pointers, records and strings without a call.
inline void relocate(const element_type& t, char* to, char* from, std::size_t n) {
  if (t.relocatable) std::memcpy(to, from, n * t.size);
  else t.relocate(t, to, from, n, t.size, t.size);
}

}  // namespace sluice::lib
