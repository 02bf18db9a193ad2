// SPDX-License-Identifier: Apache-2.0
// Parts of blocks, and moves of elements between memories.
#pragma once

#include <cstdint>
#include <cstring>

#include "sluice/element/slab.hpp"

namespace sluice::lib {

/// Returns the elements of `whole` from `first` on. Drops live elements before them, because elements are moved out of
/// a block from its owner's front.
block tail_of(const block& whole, std::uint32_t first);

/// Moves the elements for which `yes` is true, among the n elements from the i-th on, to the place `kept` and after it.
/// Returns the place after them. All elements stay constructed: the caller destroys those that are not kept. REQUIRES:
/// kept <= i.
std::uint32_t move_up(const block& in, std::uint32_t kept, std::uint32_t i, const bool* yes, std::uint32_t n);

/// Moves n elements to uninitialised memory. The sizes of numbers, pointers, records and strings need no call.
inline void relocate(const element_type& t, char* to, char* from, std::size_t n) {
  if (t.relocatable) std::memcpy(to, from, n * t.size);
  else t.relocate(t, to, from, n, t.size, t.size);
}

}  // namespace sluice::lib
