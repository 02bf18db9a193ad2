// SPDX-License-Identifier: Apache-2.0
// The elements that a stage holds, which means that it keeps them beyond the request that delivered them: the buffer of
// a shuffle, the elements of the next windows, a bucket.
//
//   held_memory memory(run, gate.line(purpose::window), gate.label(), "a window", "lower its size");
//   held_elements held(in.type(), memory);
//   status fits = held.add(b, b.size());                        // to new slots at the end
//   if (!fits.ok()) co_await fail(std::move(fits));
//   held.drop_front(shift);
//
// Each element has a slot, 0 … size() - 1, without gaps. A stage empties it either from the front (windows, buckets)
// or from anywhere (take: the last element fills the hole); several of one stage share a memory.
//
// Positions: never contain these elements. The stage says from which input ordinal on it holds some
//   (stream_base::hold_from), saves which they are if it cannot compute that (engine/held/held_ordinals.hpp), and after a resume
//   has them fetched again, each built in the slot where it stays (engine/held/held_fetch.hpp).
// Charged: for a slot the element's size and what the stage keeps beside it, from before the slot is made until this object
//   dies (room is not given back before), and a bit until all_built(); for an element what it owns, while it is here.
//   Elements are made compact first, so that a short record does not hold the long buffer that it was read into.
// Errors: resource_exhausted, where the memory budget cannot hold what is added (runtime/held_memory.hpp).
// Thread: none; it belongs to its stage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "element/batches/blocks.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

/// Is there nothing that elements of this type own beside their size?
bool owns_nothing(const element_type& type);
/// The bytes that n elements own, with the allocator's overhead for each.
std::size_t owned_bytes_of(const element_type& type, const void* elements, std::size_t n);

class held_elements {
 public:
  /// `beside_bytes`: what the stage itself keeps for each slot, an ordinal for instance. `type` and `memory` must
  /// outlive it.
  held_elements(const element_type& type, held_memory& memory, std::size_t beside_bytes = 0);
  held_elements(const held_elements&) = delete;
  ~held_elements();

  const element_type& type() const { return type_; }
  std::size_t size() const { return elements_.size(); }
  char* at(std::size_t place) { return elements_.begin() + place * type_.size; }
  /// The bytes that n elements own, stride_bytes from one to the next, with the allocator's overhead for each.
  std::size_t owned_bytes(const void* elements, std::size_t n) const {
    return owns_nothing_ ? 0 : counted_bytes(elements, n, type_.size);
  }
  std::size_t owned_bytes(const void* elements, std::size_t n, std::size_t stride_bytes) const {
    return owns_nothing_ ? 0 : counted_bytes(elements, n, stride_bytes);
  }

  // Adding elements. REQUIRES: `in` begins with its slab's first live element (blocks that a stream delivers do).

  /// Moves the first n elements of `in` to the slots behind those there are. Charged first: after an error they are
  /// where they were.
  status add(block& in, std::uint32_t n);
  /// Moves the element in places[i] to uninitialised to[i], and element i of `in` to its slot, for one i after the
  /// other, all of `in`. After an error that is done all the same.
  status exchange(const std::uint32_t* places, block& in, char* to);

  // Removing elements.

  /// Moves the element in places[i] to uninitialised to[i], and the last one into the hole, for one i after the other.
  void take(const std::uint32_t* places, std::uint32_t n, char* to);
  /// Moves the first n to uninitialised room.
  void move_front(std::size_t n, char* to);
  void drop_front(std::size_t n);
  /// Makes one list (element_type::collect) at uninitialised `to`, of n elements that stand `stride` slots apart. The
  /// first `moved` of them are moved from, and stay in their slots as what that leaves; the others are copied. Returns
  /// how many of the bytes charged here are the list's now: the caller's to give back.
  std::size_t collect(const element_type& list, char* to, std::size_t place, std::size_t n, std::size_t moved,
                      std::size_t stride);

  // After a resume. Of n slots, made at once, any may be without an element, until all_built().

  /// REQUIRES: size() == 0.
  status make_places(std::uint64_t n);
  /// Moves an element that owns so much to its slot, which has none. The caller charges what it owns.
  void build(std::uint32_t place, char* from, std::size_t owned);
  /// Moves the element in `last`, if there is one, to `hole`, which has none.
  void fill_hole(std::uint32_t hole, std::uint32_t last);
  /// The first n slots have elements, and no others.
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
  std::size_t places_ = 0;   ///< that have ever been used of the slab
  std::size_t charged_ = 0;  ///< bytes
  std::vector<bool> built_;  ///< of slots made after a resume; empty once all are
};

}  // namespace sluice::lib
