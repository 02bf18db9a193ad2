// SPDX-License-Identifier: Apache-2.0
// The pieces of an element_cache (store/element_cache.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "sluice/base/buffer.hpp"
#include "store/element_cache.hpp"

namespace sluice::lib {

/// Bytes of a piece besides its elements: itself, its entry in the map, and its input's position.
inline constexpr std::size_t kBesideBytes = 512;
/// The memory that n elements own.
inline std::size_t owned_by(const element_type& type, const void* elements, std::size_t n) {
  const std::size_t bytes = type.compact ? n * buffer::kOverheadBytes : 0;
  return type.footprint ? bytes + type.footprint(type, elements, n) : bytes;
}

/// Consecutive elements. The elements of a closed piece never change, so they are read without the lock.
struct element_cache::piece {
  piece(const element_type& type, std::uint64_t first, input_position from)
      : elements(type), first_ordinal(first), position(std::move(from)) {}
  std::uint64_t end() const { return first_ordinal + count; }

  slab elements;
  const std::uint64_t first_ordinal;
  const input_position position;
  std::uint64_t count = 0;
  std::size_t bytes = 0;    ///< of the elements, with what they own
  std::size_t charged = 0;  ///< bytes of memory
  time_point begun = {};
  bool is_closed = false;
  bool is_stored = false;
  bool is_loaded = true;
  stored_block stored = {};  ///< if is_stored

  std::uint32_t copy(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes_most, slab& out) const {
    const element_type& type = elements.type();
    const std::size_t at = ordinal - first_ordinal, left = elements.size() - at;
    const std::size_t each = std::max<std::size_t>(1, bytes / elements.size());
    const std::size_t n = std::min({left, std::size_t{most}, std::max<std::size_t>(1, bytes_most / each)});
    type.copy(type, out.reserve(n), elements.begin() + at * type.size, n, type.size, type.size);
    out.set_live(0, n);
    return static_cast<std::uint32_t>(n);
  }
};

}  // namespace sluice::lib
