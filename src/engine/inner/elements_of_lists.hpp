// SPDX-License-Identifier: Apache-2.0
// Yields the elements of the lists that a function returns: index_flat_map, and flat_map of an expression.
//
//   return elements_of_lists(out, context.open(n.inputs[0]), {.function = f}, context.gate(n));
//
// Only one list exists at a time.
// State:  the input's position at the present element, and the number of elements of its list that were delivered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "engine/lowering/open_context.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

/// The rules of the stage; they do not change in a run.
struct list_rule {
  function_ptr function;               ///< a block_function that returns lists or arrays
  function_ptr index_map = {};         ///< maps the number of an element to its place; null: skips do not use an index
  std::uint64_t total = demand::kAll;  ///< The declared number of elements. Delivering more is always an error.
  bool is_exact = false;               ///< delivering fewer is an error too, and skips use index_map
};

/// Returns true for a list or an array, which a function of a list_rule must return.
inline bool is_list(const element_type& t) { return t.kind == kind::array || (t.kind == kind::list && t.items); }

/// The list that a function returns for one element.
class made_list {
 public:
  /// `f`: a block_function that returns lists or arrays.
  explicit made_list(function_ptr f) : function_(std::move(f)), type_(*function_->out), made_(type_) {}

  bool exists() const { return made_.size() != 0; }
  std::uint64_t size() const { return size_; }
  std::uint64_t input() const { return input_; }  ///< its element's ordinal
  void forget() { made_.clear(); }
  /// Returns the size of the list and of what it owns. REQUIRES: exists().
  std::size_t bytes() const {
    SLUICE_REQUIRES(exists(), "there is no list");
    return type_.size + type_.footprint(type_, made_.begin(), 1);
  }

  /// Builds the list of an element, which may be moved from.
  status make(const element_type& in, char* element, std::uint64_t ordinal);
  /// Copies n elements, beginning with element `first`.
  void copy(std::uint64_t first, std::size_t n, void* to) const;

 private:
  function_ptr function_;
  const element_type& type_;
  slab made_;
  const void* items_ = nullptr;
  std::uint64_t size_ = 0, input_ = 0;
};

/// A plan_function whose datasets are lists, and the function that returns them.
struct opens_lists {
  function_ptr lists;

 protected:
  ~opens_lists() = default;
};
/// Returns the function behind `inner` if it opens lists; null if it opens anything else.
inline function_ptr lists_opened_by(const plan_or_function& inner) {
  auto* opens = dynamic_cast<const opens_lists*>(inner.function.get());
  return opens ? opens->lists : nullptr;
}

erased_stream elements_of_lists(const outlet& out, erased_stream in, list_rule rule, error_gate gate);

}  // namespace sluice::lib
