// SPDX-License-Identifier: Apache-2.0
// The elements that a shuffle holds, in the places of its table, and what they are charged for.
//
// A new run appends them as they come: nobody knows how many there will be. A resumed run knows that, and where each belongs:
// it makes all places at once, and builds each element in its own, so that an element is never there twice.
//
// Charged: for a place the element's size and the table's ordinal, from before the place is made until the stage ends (its
//   room is not given back before); for an element what it owns, from when it is here, in a resumed run expected before it
//   is asked for.
// Errors: resource_exhausted, where the budget cannot hold it (runtime/held_memory.hpp). What was built stays built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "element/blocks.hpp"
#include "engine/error_gate.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

class shuffle_buffer {
 public:
  shuffle_buffer(const element_type& type, std::shared_ptr<run_context> run, const error_gate& gate);

  std::size_t size() const { return elements_.size(); }
  char* at(std::size_t place) { return elements_.begin() + place * type_.size; }

  // A new run.

  /// Holds `in` from now on, in the places behind those there are.
  status append(block& in);

  // A resumed run.

  /// Room for n elements, of which none is built.
  status make_places(std::uint64_t n);
  /// n more will be asked for: charges what they will own, going by those that have come.
  void expect(std::size_t n);
  /// Builds the elements of `in`, each in its place.
  status build(block& in, const std::uint32_t* places);
  /// The element in `last` goes to `hole`.
  void move(std::uint32_t hole, std::uint32_t last) { relocate(type_, at(hole), at(last), 1); }
  bool destroys_nothing() const { return type_.trivially_destroyed; }
  /// Of a place that was built, before all_built().
  void destroy(std::uint32_t place) { type_.destroy(type_, at(place), 1); }
  /// The first n places are built, and no others.
  void all_built(std::size_t n) { elements_.set_live(0, n); }

  // Both, once they hold what they are to hold.

  /// Elements that are to be held for long own just their own bytes.
  void compact(const block& in) const {
    if (type_.compact) type_.compact(type_, in.data(), in.size());
  }
  /// What n elements own, with what it takes to hold that one by one.
  std::size_t owned_bytes(const void* elements, std::size_t n) const {
    std::size_t each = type_.compact ? buffer::kOverheadBytes : 0;
    return n * each + (type_.footprint ? type_.footprint(type_, elements, n) : 0);
  }
  /// Elements that own so much have come, others have gone.
  status charge(std::size_t more, std::size_t fewer) {
    return more == fewer ? status() : memory_.resize(memory_.bytes() + more - fewer);
  }
  void released(std::size_t owned) { memory_.shrink_by(owned); }
  void removed_last() { elements_.set_live(0, elements_.size() - 1); }

 private:
  std::size_t place_bytes() const { return type_.size + sizeof(std::uint64_t); }
  status can_grow_by(std::size_t n);

  const element_type& type_;
  slab elements_;
  held_memory memory_;
  std::size_t built_ = 0, built_own_bytes_ = 0;  // of a resumed run
  std::size_t expected_bytes_ = 0;
};

}  // namespace sluice::lib
