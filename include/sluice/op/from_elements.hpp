// SPDX-License-Identifier: Apache-2.0
// from_elements, from_range: a source of elements that are already in memory.
//
//   from_elements({1, 2, 3})
//   from_range(std::views::iota(0, 10) | std::views::transform(f))     // copied once, when the dataset is made
//
// Shape:  T; exact cardinality.
// Errors: a plan with this source has no text or JSON form (failed_precondition), because the elements have no name.
// Owns:   the elements, shared by all runs; each run delivers copies. If the type of the elements can be hashed
//         (base/content_hash.hpp), a resume compares the elements with those of the checkpoint, and is rejected if they
//         have changed.
// State:  the number of elements delivered. Skipping costs nothing.
#pragma once

#include <concepts>
#include <initializer_list>
#include <iterator>
#include <mutex>
#include <vector>

#include "sluice/engine/detail/functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info from_elements_op;

struct from_elements_arguments {
  function_arg<elements_function> function = {};  ///< the elements
};

namespace detail {
template <class T> struct stored_elements final : elements_function {
  std::vector<T> elements;
  explicit stored_elements(std::vector<T> v) : elements(std::move(v)) {
    out = &type_of<T>();
    values_known = content_hashed<T>;
  }
  std::uint64_t values() const override {
    if constexpr (content_hashed<T>)
      std::call_once(hashed_, [this] { hash_ = content_hash(elements); });  // computed only for a checkpoint
    return hash_;
  }
  std::size_t size() const override { return elements.size(); }
  void copy(std::size_t first, std::size_t n, void* to) const override {
    for (std::size_t i = 0; i != n; ++i) ::new (static_cast<void*>(static_cast<T*>(to) + i)) T(elements[first + i]);
  }

 private:
  mutable std::once_flag hashed_;
  mutable std::uint64_t hash_ = 0;
};
}  // namespace detail

template <std::copyable T> dataset<T> from_elements(std::vector<T> elements) {
  return dataset<T>(
      from_elements_op,
      arguments::of(from_elements_arguments{detail::adopt(new detail::stored_elements<T>(std::move(elements)))}));
}
template <std::copyable T> dataset<T> from_elements(std::initializer_list<T> elements) {
  return from_elements(std::vector<T>(elements));
}

/// A type that a range-based for loop accepts. (<ranges> would cost every program more than the rest of this header.)
template <class R>
  requires requires(R& r) { std::begin(r) != std::end(r); }
auto from_range(R&& range) {
  std::vector<std::iter_value_t<decltype(std::begin(range))>> elements;
  for (auto&& x : range) elements.push_back(std::forward<decltype(x)>(x));
  return from_elements(std::move(elements));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::from_elements;
using lib::from_range;

}  // namespace sluice
