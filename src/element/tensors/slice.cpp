// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/slice.hpp"

#include <cstring>
#include <utility>

namespace sluice::lib {

namespace {

// The ratio of a buffer to its slice from which the slice is copied. A copy costs about as much as reading the bytes
// did.
constexpr std::size_t kCompactRatio = 4;
constexpr std::size_t kCompactSlackBytes = 256;
/// Slices that come from a shuffle cost a cache miss for each owner: this number of them is prefetched at a time.
constexpr std::size_t kPrefetched = 8;

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
  void add(buffer* owner) noexcept {
    // Buffers of one size are mapped at multiples of it, so all bits of the address count.
    const std::size_t hash = reinterpret_cast<std::uintptr_t>(owner) * 0x9e3779b97f4a7c15u >> (64 - kBits);
    std::size_t tried = 0;  // of kTried entries
    while (entries_[hash ^ tried].owner != owner && entries_[hash ^ tried].count && tried != kTried - 1) ++tried;
    entry& e = entries_[hash ^ tried];
    if (e.owner != owner) {
      if (e.count) e.owner->drop_references(e.count);
      e = {owner, 0};
    }
    ++e.count;
  }

 private:
  static constexpr std::size_t kBits = 6, kEntries = std::size_t{1} << kBits, kTried = 4;
  struct entry {
    buffer* owner = nullptr;
    std::uint32_t count = 0;
  };
  entry entries_[kEntries];
};

bool holds_too_much(const slice& s) noexcept {
  return s.owner() && s.owner()->capacity() > kCompactRatio * s.size() + kCompactSlackBytes;
}

}  // namespace

slice slice::copy_of(std::string_view bytes) {
  buffer* b = buffer::make_exact(bytes.size());
  if (!bytes.empty()) std::memcpy(b->data(), bytes.data(), bytes.size());
  return {b, b->data(), bytes.size()};
}

void slice::sluice_destroy(slice* p, std::size_t n) noexcept {
  for (std::size_t i = 0; i != n;) {
    buffer* owner = p[i].owner_;
    std::size_t from = i;
    if (i + kPrefetched < n) __builtin_prefetch(p[i + kPrefetched].owner_, 1);
    while (i != n && p[i].owner_ == owner) ++i;
    if (owner) owner->drop_references(static_cast<std::uint32_t>(i - from));
  }
}

std::size_t slice::sluice_footprint(const slice* p, std::size_t n) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != n; ++i) bytes += p[i].size_;
  return bytes;
}

void slice::sluice_compact(slice* p, std::size_t n) {
  left_buffers left;
  for (std::size_t i = 0; i != n; ++i) {
    if (!holds_too_much(p[i])) continue;
    slice copy = copy_of(p[i].view());
    left.add(std::exchange(p[i].owner_, copy.owner_));
    copy.owner_ = nullptr;
    p[i].data_ = copy.data_;
  }
}

}  // namespace sluice::lib
