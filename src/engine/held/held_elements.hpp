// SPDX-License-Identifier: Apache-2.0
// The elements that a stage holds beyond the request that delivered them: the buffer of a shuffle, the elements of the
// next windows, a bucket.
//
//   held_memory memory(run, gate.line(purpose::window), gate.label(), "a window", "lower its size");
//   held_elements held(in.type(), memory);
//   status fits = held.add(b, b.size());                        // to new slots at the end
//   if (!fits.ok()) co_await fail(std::move(fits));
//   held.drop_front(shift);
//
// Each element has a slot, 0 … size() - 1, without gaps. A stage removes elements either from the front (windows,
// buckets) or from any slot (take: the last element fills the hole). Several objects of one stage may share a memory.
//
// Positions: never contain these elements. The stage declares the first input ordinal that it holds
// (stream_base::hold_from). It
//   saves which elements it holds if it cannot compute that (engine/held/held_ordinals.hpp). After a resume it fetches them again
//   and builds each in the slot in which it stays (engine/held/held_fetch.hpp).
// Charged: for each slot the element's size and what the stage stores beside it, from before the slot is allocated
// until this
//   object is destroyed; for each element the memory that it owns, while it is held; and one bit for each slot until all_built().
//   Elements are made compact first, so that a short record does not retain the long buffer that it was read into.
// Errors: resource_exhausted: the added elements exceed the memory budget (runtime/held_memory.hpp).
// Thread: none; it belongs to its stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "element/batches/blocks.hpp"
#include "engine/held/slice_slots.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

/// Returns true if elements of this type own no memory besides their size.
bool owns_nothing(const element_type& type);
/// Returns the bytes that n elements own, with the allocator's overhead for each.
std::size_t owned_bytes_of(const element_type& type, const void* elements, std::size_t n);

class held_elements {
 public:
  /// `beside_bytes`: the bytes that the stage itself stores for each slot, for example an ordinal. `type` and `memory`
  /// must outlive this object.
  held_elements(const element_type& type, held_memory& memory, std::size_t beside_bytes = 0);
  held_elements(const held_elements&) = delete;
  ~held_elements();

  const element_type& type() const { return type_; }
  std::size_t size() const { return elements_.size(); }
  char* at(std::size_t place) { return elements_.begin() + place * type_.size; }
  /// Returns the bytes that n elements own, with the allocator's overhead for each. Elements lie stride_bytes apart.
  std::size_t owned_bytes(const void* elements, std::size_t n) const {
    return owns_nothing_ ? 0 : counted_bytes(elements, n, type_.size);
  }
  std::size_t owned_bytes(const void* elements, std::size_t n, std::size_t stride_bytes) const {
    return owns_nothing_ ? 0 : counted_bytes(elements, n, stride_bytes);
  }

  // Adding elements. REQUIRES: `in` begins with its slab's first live element (blocks that a stream delivers do).

  /// Moves the first n elements of `in` to new slots at the end. They are charged first: after an error they are still
  /// in `in`.
  status add(block& in, std::uint32_t n);
  /// For each i, moves the element in places[i] to uninitialised to[i], and then element i of `in` to that slot.
  /// Consumes all of `in`, also if it returns an error.
  status exchange(const std::uint32_t* places, block& in, char* to);

  /// Moves all elements of `from` to this object, with their slots. Errors: the budget has no room; `from` then still has
  /// them. REQUIRES: size() == 0, and both have the same type and bytes beside each slot.
  status take_all(held_elements& from);

  // Removing elements.

  /// For each i, moves the element in places[i] to uninitialised to[i], and then the last element into the hole.
  void take(const std::uint32_t* places, std::uint32_t n, char* to);
  /// Moves the first n elements to uninitialised memory.
  void move_front(std::size_t n, char* to);
  void drop_front(std::size_t n);
  /// Builds one list (element_type::collect) at uninitialised `to`, of n elements that lie `stride` slots apart. The
  /// first `moved` of them are moved from and stay in their slots; the others are copied. Returns the number of charged
  /// bytes that the list now owns, which the caller must release.
  std::size_t collect(const element_type& list, char* to, std::size_t place, std::size_t n, std::size_t moved,
                      std::size_t stride);

  // After a resume: n slots are allocated at once, and any of them may lack its element until all_built().

  /// REQUIRES: size() == 0.
  status make_places(std::uint64_t n);
  /// Moves an element that owns `owned` bytes to its slot, which has none. The caller charges these bytes.
  void build(std::uint32_t place, char* from, std::size_t owned);
  /// Moves the element in slot `last`, if it has one, to slot `hole`, which has none.
  void fill_hole(std::uint32_t hole, std::uint32_t last);
  /// Declares that the first n slots have elements, and no other slot has one.
  void all_built(std::size_t n);

 private:
  std::size_t place_bytes() const { return type_.size + beside_bytes_; }
  static std::size_t bitmap_bytes(std::size_t places) { return (places + 7) / 8; }
  std::size_t counted_bytes(const void* elements, std::size_t n, std::size_t stride_bytes) const;
  status charge(std::size_t more, std::size_t fewer);
  void release(std::size_t bytes);
  status charge_room(std::uint32_t n);

  const element_type& type_;
  held_memory& memory_;
  const std::size_t beside_bytes_;
  const bool owns_nothing_;
  slab elements_;
  std::size_t places_ = 0;               ///< slots of the slab that were ever used
  std::size_t charged_ = 0;              ///< bytes
  std::unique_ptr<slice_slots> slices_;  ///< of records and lines, from their first exchange on
  std::vector<bool> built_;  ///< for slots allocated after a resume: true if the element was built; empty once all are
};

}  // namespace sluice::lib
