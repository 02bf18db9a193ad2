// SPDX-License-Identifier: Apache-2.0
// flat_map: each element becomes a dataset; the elements of all these datasets, one dataset after the other.
//
//   range(3) | flat_map([](std::int64_t n) { return range(n); })     // 0 0 1
//   list_files("*.txt") | flat_map(lines)
//
// The function takes T and returns a dataset<U>; or a reader, for elements that are paths.
// Order:  all of the first element's dataset, then all of the second's …
// Errors: an exception of the function becomes an error of stage "flat_map(name)". Errors of the inner datasets end the
//         stream.
// State:  the ordinal of the current element, and the position in its dataset. The function is called again after a
//         resume, so it must return the same dataset for the same element.
#pragma once

#include <type_traits>

#include "sluice/engine/functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info flat_map_op;

namespace detail {

template <class T> inline constexpr bool is_dataset = false;
template <class T> inline constexpr bool is_dataset<dataset<T>> = true;
template <class F, class T>
concept opens_datasets =
    std::invocable<const F&, T&&> && is_dataset<std::remove_cvref_t<std::invoke_result_t<const F&, T&&>>>;
template <class F, class T>
using opened = typename std::remove_cvref_t<std::invoke_result_t<const F&, T&&>>::value_type;

template <class T, class F> struct opening_function final : plan_function {
  F f;
  explicit opening_function(F function) : f(std::move(function)) {
    describe(*this, f, &type_of<T>(), &type_of<opened<F, T>>());
  }
  node_ptr plan_for(void* element) const override {
    return detail::call(f, std::move(*static_cast<T*>(element))).plan();
  }
};

template <class T>
concept path_like = std::is_same_v<T, std::string> || requires(const T& t) {
  { t.view() } -> std::convertible_to<std::string_view>;
};

/// The class of flat_map and interleave, whose inner plan is a function or a reader. `over(inner)` returns the
/// arguments.
template <class T, class F, class Over>
auto over_inner_plans(const op_info& op, const dataset<T>& in, const F& f, const Over& over) {
  using plan_or_reader = inner_plan<opens::readers, plan_function>;
  if constexpr (requires { reader_of(f); }) {
    static_assert(path_like<T>,
                  "flat_map, interleave: a file reader takes paths (strings), and this dataset has other elements");
    auto reader = reader_of(f);
    return dataset<typename decltype(reader)::value_type>(
        make_stage(op, over(plan_or_reader(reader.plan())), in.plan()));
  } else if constexpr (opens_datasets<F, T>) {
    return dataset<opened<F, T>>(make_stage(op, over(plan_or_reader(adopt(new opening_function<T, F>(f)))), in.plan()));
  } else {
    static_assert(element_is<T>::template taken_by<F>,
                  "flat_map, interleave: the function must take the element and return a dataset");
    return dataset<refused>();
  }
}

}  // namespace detail

struct flat_map_arguments {
  inner_plan<opens::readers, plan_function> inner = {};  ///< what is opened for each element
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

// What users write.
using lib::flat_map;

}  // namespace sluice
