// SPDX-License-Identifier: Apache-2.0
// Buffers behind held slices: copies short slices out of large buffers, and releases the references of many slices
// together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/element/slice.hpp"

namespace sluice::lib {

/// Returns true if a stage that holds this slice must copy it first: its buffer is much larger. A copy costs about as
/// much as reading the bytes did.
inline bool holds_too_much(const slice& s) noexcept {
  constexpr std::size_t kCompactRatio = 4, kCompactSlackBytes = 256;
  return s.owner() && s.owner()->capacity() > kCompactRatio * s.size() + kCompactSlackBytes;
}

/// Buffers that slices no longer use. Each buffer's references are released together if there are few buffers, because
/// one atomic operation for each slice would be a large part of a copy's cost.
class left_buffers {
 public:
  left_buffers() = default;
  left_buffers(const left_buffers&) = delete;
  ~left_buffers() {
    for (const auto& e : entries_)
      if (e.count) e.owner->drop_references(e.count);
  }
  void add(buffer* owner, std::uint32_t references = 1) noexcept {
    // Buffers of one size are mapped at multiples of it, so all bits of the address count.
    const std::size_t hash = reinterpret_cast<std::uintptr_t>(owner) * 0x9e3779b97f4a7c15u >> (64 - kBits);
    std::size_t tried = 0;  // of kTried entries
    while (entries_[hash ^ tried].owner != owner && entries_[hash ^ tried].count && tried != kTried - 1) ++tried;
    entry& e = entries_[hash ^ tried];
    if (e.owner != owner) {
      if (e.count) e.owner->drop_references(e.count);
      e = {owner, 0};
    }
    e.count += references;
  }

 private:
  static constexpr std::size_t kBits = 6, kEntries = std::size_t{1} << kBits, kTried = 4;
  struct entry {
    buffer* owner = nullptr;
    std::uint32_t count = 0;
  };
  entry entries_[kEntries];
};

}  // namespace sluice::lib
