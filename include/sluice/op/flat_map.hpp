// SPDX-License-Identifier: Apache-2.0
// flat_map: opens a dataset for each element, and delivers the elements of these datasets, one dataset after the other.
//
//   range(3) | flat_map([](std::int64_t n) { return range(n); })     // 0 0 1
//   list_files("*.txt") | flat_map(lines)
//   range(3) | flat_map(expr<std::vector<std::int64_t>>("[it, -it]"))    // 0 0 1 -1 2 -2
//   range(3) | map([](std::int64_t n) { return range(n); }) | flat_map(std::identity())    // datasets as elements
//
// The function takes T and returns a dataset<U>, or a reader if elements are paths. Instead of a function, an
// expression may yield a list or an array: in plan text `range(3) | flat_map([it, -it])`,
// `range(10) | window(3) | flat_map(it)`, `samples | flat_map(tokens)`.
// Order:  all of the first element's dataset, then all of the second's …
// Errors: an exception of the function becomes an error of stage "flat_map(name)". Errors of the inner datasets end the
//         stream.
// State:  the ordinal of the current element, and the position in its dataset. The function is called again after a
//         resume, so it must return the same dataset for the same element.
#pragma once

#include <utility>

#include "sluice/engine/detail/inner_functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info flat_map_op;

struct flat_map_arguments {
  inner_plan<opens::readers, plan_function> inner = {};  ///< the plan that is opened for each element
};

template <class F> class flat_map_verb : public stage_base_tag {
 public:
  explicit flat_map_verb(F f) : f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    return detail::over_inner_plans(flat_map_op, in, f_,
                                    [](auto inner) { return arguments::of(flat_map_arguments{std::move(inner)}); });
  }

 private:
  F f_;
};

template <class F> flat_map_verb<F> flat_map(F f) { return flat_map_verb<F>(std::move(f)); }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::flat_map;

}  // namespace sluice
