// SPDX-License-Identifier: Apache-2.0
// Users' functions that return a dataset for an element, as a form; and the verbs flat_map and interleave, whose inner
// plan is such a function, an expression that is a list, or a reader.
//
//   return detail::over_inner_plans(flat_map_op, in, f_, [](auto inner) {
//     return arguments::of(flat_map_arguments{std::move(inner)});
//   });
//
// Thread: the same as in functions.hpp.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/functions.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib::detail {

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

template <class F> inline constexpr bool is_typed_expression = false;
template <class U> inline constexpr bool is_typed_expression<typed_expression<U>> = true;

template <class T>
concept path_like = std::is_same_v<T, std::string> || requires(const T& t) {
  { t.view() } -> std::convertible_to<std::string_view>;
};

/// Makes the dataset of flat_map or interleave, whose inner plan is a function, an expression or a reader.
/// `over(inner)` returns the arguments.
template <class T, class F, class Over>
auto over_inner_plans(const op_info& op, const dataset<T>& in, const F& f, const Over& over) {
  using plan_or_reader = inner_plan<opens::readers, plan_function>;
  if constexpr (requires { reader_of(f); }) {
    static_assert(path_like<T>,
                  "flat_map, interleave: a file reader takes paths (strings), and this dataset has other elements");
    auto reader = reader_of(f);
    return dataset<typename decltype(reader)::value_type>(op, over(plan_or_reader(reader.plan())), in.plan());
  } else if constexpr (is_typed_expression<F>) {
    using list = typename F::value_type;
    return dataset<typename list::value_type>(
        op, over(plan_or_reader(expression_function(f.value, {}, &type_of<list>()))), in.plan());
  } else if constexpr (opens_datasets<F, T>) {
    return dataset<opened<F, T>>(op, over(plan_or_reader(adopt(new opening_function<T, F>(f)))), in.plan());
  } else {
    static_assert(element_is<T>::template taken_by<F>,
                  "flat_map, interleave: the function must take the element and return a dataset");
    return dataset<refused>();
  }
}

}  // namespace sluice::lib::detail
