// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/slice.hpp"

#include <cstring>
#include <utility>

#include "element/tensors/slice_owners.hpp"

namespace sluice::lib {

namespace {

/// Slices that come from a shuffle cost a cache miss for each owner: this number of them is prefetched at a time.
constexpr std::size_t kPrefetched = 8;

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
