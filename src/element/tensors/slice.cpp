// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/slice.hpp"

#include <cstring>
#include <utility>

#include "element/tensors/slice_owners.hpp"

namespace sluice::lib {

namespace {

/// Slices that come from a shuffle cost a cache miss for each owner: this number of them is prefetched at a time.
constexpr std::size_t kPrefetched = 8;

/// The number of slices that are examined for owners that alternate, as those of an interleave of files do.
constexpr std::size_t kExamined = 64;

/// Calls release(owner, references) for each run of slices of one buffer.
template <class F> void each_owner(const slice* p, std::size_t n, F release) {
  for (std::size_t i = 0; i != n;) {
    buffer* owner = p[i].owner();
    const std::size_t from = i;
    if (i + kPrefetched < n) __builtin_prefetch(p[i + kPrefetched].owner(), 1);
    while (i != n && p[i].owner() == owner) ++i;
    if (owner) release(owner, static_cast<std::uint32_t>(i - from));
  }
}

/// Returns true if slices of other buffers are between slices of the first one's buffer.
bool owners_alternate(const slice* p, std::size_t n) noexcept {
  constexpr std::size_t kFewest = 16;  // fewer are released one by one
  if (n < kFewest || p[0].owner() == p[1].owner()) return false;
  const std::size_t end = n < kExamined ? n : kExamined;
  for (std::size_t i = 2; i != end; ++i)
    if (p[i].owner() == p[0].owner()) return true;
  return false;
}

}  // namespace

slice slice::copy_of(std::string_view bytes) {
  buffer* b = buffer::make_exact(bytes.size());
  if (!bytes.empty()) std::memcpy(b->data(), bytes.data(), bytes.size());
  return {b, b->data(), bytes.size()};
}

void slice::sluice_destroy(slice* p, std::size_t n) noexcept {
  if (!owners_alternate(p, n)) return each_owner(p, n, [](buffer* b, std::uint32_t k) { b->drop_references(k); });
  left_buffers left;
  each_owner(p, n, [&](buffer* b, std::uint32_t k) { left.add(b, k); });
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
