// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/slice.hpp"

#include <cstring>

namespace sluice::lib {

namespace {

// A buffer this much larger than its slice is worth leaving: a copy costs about as much as reading the bytes did.
constexpr std::size_t kCompactRatio = 4;
constexpr std::size_t kCompactSlackBytes = 256;
/// Of slices that come from a shuffle, each owner is a miss of the cache: so many are on their way at a time.
constexpr std::size_t kPrefetched = 8;

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
  for (std::size_t i = 0; i != n; ++i)
    if (holds_too_much(p[i])) p[i] = copy_of(p[i].view());
}

}  // namespace sluice::lib
