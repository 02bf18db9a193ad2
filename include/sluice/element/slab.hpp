// SPDX-License-Identifier: Apache-2.0
// slab: memory for consecutive elements of one type. block: a view of them, which a stage delivers to its consumer.
//
//   slab out(type_of<sample>());
//   auto* to = reinterpret_cast<sample*>(out.reserve(n));     // destroys the live elements; returns room for n
//   …construct n samples at `to`…
//   out.set_live(0, n);
//   block b = out.view();                                     // delivered to the consumer
//
// An element of a slab is *live* if it has been constructed and not been moved out or destroyed. The slab's destructor
// destroys the live elements. They are consecutive, and need not begin at the start of the memory.
// Owns:   a slab owns its memory and its live elements; a block owns nothing.
// Thread: not safe for concurrent use. A slab belongs to the stage that fills it, and, after its block was delivered,
//         to the consumer until its next request.
// Cost:   a slab grows to its largest block and is reused, so the steady state allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

class slab;

/// A view of consecutive live elements of a slab. Its user may read and change them, and may remove them from the
/// front: move them out or destroy them. Copies of a block are views of the same elements. After elements were removed
/// through one of them, the others must not be used. Valid until the next request on the stream that delivered it. An
/// empty block is the end of the stream.
class block {
 public:
  block() = default;
  block(slab* owner, const element_type* type, char* data, std::uint32_t size) noexcept
      : data_(data), owner_(owner), type_(type), size_(size) {}

  std::uint32_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  explicit operator bool() const noexcept { return size_ != 0; }
  const element_type& type() const noexcept { return *type_; }
  slab* owner() const noexcept { return owner_; }
  char* data() const noexcept { return data_; }
  char* at(std::size_t i) const noexcept { return data_ + i * type_->size; }
  /// Assigns `o`, member by member. The compiler's assignment copies two members at a time; directly after stores of
  /// single members such a load cannot be forwarded from the store queue, and the stall costs more than all else
  /// between two stages.
  void view_of(const block& o) noexcept {
    data_ = o.data_;
    owner_ = o.owner_;
    type_ = o.type_;
    size_ = o.size_;
  }
  template <class T> T* as() const noexcept { return std::launder(reinterpret_cast<T*>(data_)); }

  /// A view of the first k elements; the others stay live in the slab. REQUIRES: k <= size().
  block first(std::uint32_t k) const noexcept { return {owner_, type_, data_, k}; }

  // The following functions remove elements from the view and from the slab. REQUIRES for all: n <= size(), and the
  // view begins with the slab's first live element, as blocks that a stream delivers do.

  /// Destroys the first n elements.
  void drop_front(std::uint32_t n) noexcept;
  /// Moves the first n elements to uninitialized memory at `to`, with to_stride bytes from one to the next.
  void move_front(void* to, std::uint32_t n, std::size_t to_stride) noexcept;
  void move_front(void* to, std::uint32_t n) noexcept { move_front(to, n, type_->size); }
  /// Destroys all elements of the view except the first k. If the slab has live elements after the view, the k elements
  /// are moved next to them, which changes data().
  void truncate(std::uint32_t k) noexcept;
  /// Removes the first n elements, which the caller has moved out or destroyed.
  void forget_front(std::uint32_t n) noexcept;

 private:
  friend class slab;
  char* data_ = nullptr;
  slab* owner_ = nullptr;
  const element_type* type_ = nullptr;
  std::uint32_t size_ = 0;
};

class slab {
 public:
  explicit slab(const element_type& type) noexcept : type_(&type) {}
  slab(slab&& o) noexcept : type_(o.type_), data_(o.data_), capacity_(o.capacity_), first_(o.first_), live_(o.live_) {
    o.data_ = nullptr;
    o.capacity_ = o.first_ = o.live_ = 0;
  }
  slab& operator=(slab&& o) noexcept {
    slab moved(std::move(o));
    swap(moved);
    return *this;
  }
  ~slab() {
    clear();
    release();
  }
  void swap(slab& o) noexcept;

  const element_type& type() const noexcept { return *type_; }
  /// The number of live elements.
  std::size_t size() const noexcept { return live_; }
  std::size_t capacity() const noexcept { return capacity_; }
  char* begin() const noexcept { return data_ + first_ * type_->size; }

  /// Destroys the live elements. Returns uninitialized room for n elements. Errors: std::bad_alloc.
  char* reserve(std::size_t n) {
    clear();
    if (n > capacity_) allocate(n);
    return data_;
  }
  /// Keeps the live elements, which may be moved. Returns uninitialized room for n more after them. Errors:
  /// std::bad_alloc.
  char* extend(std::size_t n) {
    if (n > capacity_ - first_ - live_) make_room(n);
    return data_ + (first_ + live_) * type_->size;
  }
  /// Returns true if extend(n) would allocate new memory and move the elements there, so that both exist for a moment.
  bool must_grow(std::size_t n) const noexcept {
    return n > capacity_ - first_ - live_ && (live_ > first_ || live_ + n > capacity_);
  }
  /// The unused room before the live elements, as a number of elements; extend() may move the live elements there.
  std::size_t gone_in_front() const noexcept { return first_; }
  /// Declares that n elements have been constructed in the room that extend() returned.
  void add_live(std::size_t n) noexcept { live_ += n; }
  /// Declares that exactly the elements [first, first + n) are live; the caller has constructed or removed elements
  /// accordingly.
  void set_live(std::size_t first, std::size_t n) noexcept {
    first_ = first;
    live_ = n;
  }
  /// Destroys the live elements; keeps the memory.
  void clear() noexcept {
    if (live_ != 0 && !type_->trivially_destroyed) type_->destroy(*type_, begin(), live_);
    first_ = live_ = 0;
  }
  /// Destroys the live elements, and frees the memory.
  void give_back() noexcept {
    clear();
    release();
  }
  /// Removes the first n live elements, which the caller has moved out or destroyed.
  void forget_front(std::size_t n) noexcept {
    first_ += n;
    live_ -= n;
  }
  /// A view of all live elements.
  block view() noexcept { return {this, type_, begin(), static_cast<std::uint32_t>(live_)}; }

 private:
  friend class block;
  void allocate(std::size_t n);
  void make_room(std::size_t more);
  void release() noexcept;
  void close_gap(block& b, std::uint32_t kept) noexcept;

  const element_type* type_;
  char* data_ = nullptr;
  std::size_t capacity_ = 0, first_ = 0, live_ = 0;  ///< in elements
};

inline void block::forget_front(std::uint32_t n) noexcept {
  SLUICE_REQUIRES(n <= size_, "more elements are removed than the view has");
  // If the view were not the front, the slab would forget its first elements without destroying them, and destroy these
  // twice.
  SLUICE_REQUIRES(n == 0 || type_->trivially_destroyed || data_ == owner_->begin(),
                  "the view does not begin with its slab");
  owner_->first_ += n;
  owner_->live_ -= n;
  data_ += n * type_->size;
  size_ -= n;
}

inline void block::drop_front(std::uint32_t n) noexcept {
  if (!type_->trivially_destroyed) type_->destroy(*type_, data_, n);
  forget_front(n);
}

inline void block::move_front(void* to, std::uint32_t n, std::size_t to_stride) noexcept {
  type_->relocate(*type_, to, data_, n, to_stride, type_->size);
  forget_front(n);
}

inline void block::truncate(std::uint32_t k) noexcept {
  SLUICE_REQUIRES(k <= size_, "a view is not truncated to more elements than it has");
  if (!type_->trivially_destroyed) type_->destroy(*type_, at(k), size_ - k);
  if (owner_->live_ == size_) owner_->live_ = k;
  else owner_->close_gap(*this, k);
  size_ = k;
}

}  // namespace sluice::lib
