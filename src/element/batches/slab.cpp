// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/slab.hpp"

#include <algorithm>

#include "element/batches/slab_pool.hpp"

namespace sluice::lib {
namespace {

// far beyond the memory of any machine, and safe to double
constexpr std::size_t kSlabBytesMax = ~std::size_t{0} >> 2;

std::size_t alignment(const element_type& t) { return std::max(detail::kSlabAlignment, t.align); }

}  // namespace

void slab::swap(slab& o) noexcept {
  std::swap(type_, o.type_);
  std::swap(data_, o.data_);
  std::swap(capacity_, o.capacity_);
  std::swap(first_, o.first_);
  std::swap(live_, o.live_);
}

void slab::allocate(std::size_t n) {
  if (n > kSlabBytesMax / type_->size) throw std::bad_alloc();
  release();
  data_ = static_cast<char*>(detail::allocate_slab(n * type_->size, alignment(*type_)));
  capacity_ = std::max<std::size_t>(n, detail::slab_bytes(n * type_->size) / type_->size);
}

void slab::release() noexcept {
  if (data_) detail::free_slab(data_, capacity_ * type_->size, alignment(*type_));
  data_ = nullptr;
  capacity_ = 0;
}

void slab::make_room(std::size_t more) {
  if (more > kSlabBytesMax) throw std::bad_alloc();
  // The free memory may be at the front: at least as many elements were removed there as are moved now. A slab that is
  // filled at the back and emptied at the front therefore stays at twice the size of its contents.
  if (!must_grow(more)) {
    if (live_ != 0) type_->relocate(*type_, data_, begin(), live_, type_->size, type_->size);
    first_ = 0;
    return;
  }
  slab larger(*type_);
  larger.allocate(std::max(live_ + more, capacity_ * 2));
  if (live_ != 0) type_->relocate(*type_, larger.data_, begin(), live_, type_->size, type_->size);
  larger.live_ = std::exchange(live_, 0);
  swap(larger);
}

void slab::close_gap(block& b, std::uint32_t kept) noexcept {
  // Backwards, one at a time, because the ranges may overlap. Rare: only if a view did not cover all live elements.
  std::size_t gap = b.size_ - kept, size = type_->size;
  for (std::size_t i = kept; i != 0; --i)
    type_->relocate(*type_, b.data_ + (i - 1 + gap) * size, b.data_ + (i - 1) * size, 1, size, size);
  b.data_ += gap * size;
  first_ += gap;
  live_ -= gap;
}

}  // namespace sluice::lib
