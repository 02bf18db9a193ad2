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

/// Moves the elements for which `yes` is true, out of the n elements from the i-th on, to the place `kept` and after.
/// Returns the place after them. All elements stay constructed: the caller destroys the elements that are not retained.
/// REQUIRES: kept <= i.
std::uint32_t move_up(const block& in, std::uint32_t kept, std::uint32_t i, const bool* yes, std::uint32_t n);

/// Moves n elements to uninitialised room; the sizes of numbers, pointers, records and strings without a call.
inline void relocate(const element_type& t, char* to, char* from, std::size_t n) {
  if (t.relocatable) std::memcpy(to, from, n * t.size);
  else t.relocate(t, to, from, n, t.size, t.size);
}

}  // namespace sluice::lib
