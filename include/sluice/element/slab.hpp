// SPDX-License-Identifier: Apache-2.0
// Storage for a run of elements of one type, and the view of it that stages hand to each other.
//
//   slab out(type_of<sample>());
//   auto* to = reinterpret_cast<sample*>(out.reserve(n));     // what was live is destroyed; room for n
//   …construct n samples at `to`…
//   out.set_live(0, n);
//   block b = out.view();                                     // goes to whoever asked
//
// A slab is allocated once and grows: no allocation per block in the steady state.
// Thread: none; a slab belongs to the stage that fills it and, while its block is out, to whoever holds the block.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "sluice/element/type.hpp"

namespace sluice::lib {

class slab;

/// The first live elements of a slab, to read, change, move out of and drop. Copies are views of the same elements.
/// Valid until the next call on the stream that gave it. Empty means the end of the stream.
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
  /// Becomes a view of the same, field by field: a copy in wide words, right after narrow stores and before narrow loads,
  /// waits for the store queue to drain, which costs more than the rest of a hop between stages.
  void view_of(const block& o) noexcept {
    data_ = o.data_;
    owner_ = o.owner_;
    type_ = o.type_;
    size_ = o.size_;
  }
  template <class T> T* as() const noexcept { return std::launder(reinterpret_cast<T*>(data_)); }

  /// A view of the first k: the rest stays live in the owner, behind the view.
  block first(std::uint32_t k) const noexcept { return {owner_, type_, data_, k}; }
  // These remove elements. REQUIRES of all: n <= size(), and the view is its owner's front (blocks from a stream are).

  /// Destroys the first n.
  void drop_front(std::uint32_t n) noexcept;
  /// Moves the first n to uninitialised room at `to`, one each to_stride bytes.
  void move_front(void* to, std::uint32_t n, std::size_t to_stride) noexcept;
  void move_front(void* to, std::uint32_t n) noexcept { move_front(to, n, type_->size); }
  /// Destroys all of the view but the first k. data() may change: where the owner holds more behind the view, the kept
  /// ones move up to it.
  void truncate(std::uint32_t k) noexcept;
  /// The first n were moved out or destroyed by the caller itself.
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
  slab(slab&& o) noexcept
      : type_(o.type_),
        data_(std::exchange(o.data_, nullptr)),
        capacity_(std::exchange(o.capacity_, 0)),
        first_(std::exchange(o.first_, 0)),
        live_(std::exchange(o.live_, 0)) {}
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
  /// Live elements, those that will be destroyed with the slab.
  std::size_t size() const noexcept { return live_; }
  std::size_t capacity() const noexcept { return capacity_; }
  char* begin() const noexcept { return data_ + first_ * type_->size; }

  /// Destroys what is live; returns room for n elements. Errors: std::bad_alloc.
  char* reserve(std::size_t n) {
    clear();
    if (n > capacity_) allocate(n);
    return data_;
  }
  /// Keeps what is live; returns room for n more behind it. Live elements may move. Errors: std::bad_alloc.
  char* extend(std::size_t n) {
    if (n > capacity_ - first_ - live_) make_room(n);
    return data_ + (first_ + live_) * type_->size;
  }
  /// Would extend(n) have to take new room, so that for a moment there are both?
  bool must_grow(std::size_t n) const noexcept {
    return n > capacity_ - first_ - live_ && (live_ > first_ || live_ + n > capacity_);
  }
  /// Elements that were in front of the live ones and have gone: their room is used again by extend().
  std::size_t gone_in_front() const noexcept { return first_; }
  /// n elements were built where extend() said.
  void add_live(std::size_t n) noexcept { live_ += n; }
  /// Exactly these are live now; the caller has built or removed the others.
  void set_live(std::size_t first, std::size_t n) noexcept {
    first_ = first;
    live_ = n;
  }
  /// Destroys what is live; keeps the room.
  void clear() noexcept {
    if (live_ != 0 && !type_->trivially_destroyed) type_->destroy(*type_, begin(), live_);
    first_ = live_ = 0;
  }
  /// Destroys what is live, and the room.
  void give_back() noexcept {
    clear();
    release();
  }
  /// The first n live ones were moved out by the caller itself.
  void forget_front(std::size_t n) noexcept {
    first_ += n;
    live_ -= n;
  }
  /// All live elements.
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
  assert(n <= size_);
  // Elsewhere it would be the owner's front that is forgotten, alive, and these that the owner destroys once more.
  assert(n == 0 || type_->trivially_destroyed || data_ == owner_->begin());
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
  assert(k <= size_);
  if (!type_->trivially_destroyed) type_->destroy(*type_, at(k), size_ - k);
  if (owner_->live_ == size_) owner_->live_ = k;
  else owner_->close_gap(*this, k);
  size_ = k;
}

}  // namespace sluice::lib
