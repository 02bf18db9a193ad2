// SPDX-License-Identifier: Apache-2.0
// The elements of lists that a function makes of elements, one list after the other: index_flat_map, and flat_map of an expression.
//
//   return elements_of_lists(out, context.open(n.inputs[0]), {.function = f}, context.gate(n));
//
// One list is there at a time.
// State:  the input's position at the present element, and how many of its list were delivered.
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
  function_ptr function;        ///< a block_function that makes lists or arrays
  function_ptr index_map = {};  ///< maps the number of an element to its place; null: nothing is skipped by index
  std::uint64_t total =
      demand::kAll;       ///< so many elements are said to be there: more are an error, whatever may be dropped,
  bool is_exact = false;  ///< and so are fewer. What is passed over is passed over by index then
};

/// A list, or an array: what a function of a list_rule has to make.
inline bool is_list(const element_type& t) { return t.kind == kind::array || (t.kind == kind::list && t.items); }

/// The list that a function makes of one element.
class made_list {
 public:
  /// `f`: a block_function that makes lists or arrays.
  explicit made_list(function_ptr f) : function_(std::move(f)), type_(*function_->out), made_(type_) {}

  bool exists() const { return made_.size() != 0; }
  std::uint64_t size() const { return size_; }
  std::uint64_t input() const { return input_; }  ///< the ordinal of the element
  void forget() { made_.clear(); }
  /// With what it owns. REQUIRES: exists().
  std::size_t bytes() const {
    SLUICE_REQUIRES(exists(), "there is no list");
    return type_.size + type_.footprint(type_, made_.begin(), 1);
  }

  /// The element may be moved from.
  status make(const element_type& in, char* element, std::uint64_t ordinal);
  /// Copies n elements from the `first` on.
  void copy(std::uint64_t first, std::size_t n, void* to) const;

 private:
  function_ptr function_;
  const element_type& type_;
  slab made_;
  const void* items_ = nullptr;
  std::uint64_t size_ = 0, input_ = 0;
};

/// A plan_function whose datasets are lists, and the function that makes them.
struct opens_lists {
  function_ptr lists;

 protected:
  ~opens_lists() = default;
};
/// The function of what opens lists; null: it opens something else.
inline function_ptr lists_opened_by(const plan_or_function& inner) {
  auto* opens = dynamic_cast<const opens_lists*>(inner.function.get());
  return opens ? opens->lists : nullptr;
}

erased_stream elements_of_lists(const outlet& out, erased_stream in, list_rule rule, error_gate gate);

}  // namespace sluice::lib
