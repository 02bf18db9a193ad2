// SPDX-License-Identifier: Apache-2.0
// inspect, tap: calls a function for each element; the elements stay as they are.
//
//   numbers | inspect([](std::int64_t x) { std::printf("%ld\n", static_cast<long>(x)); }) | batch(2)
//   samples | inspect([](const sample& s) { return s.label < 0 ? data_loss_error("a label below 0") : status(); })
//   samples | tap(expr("note(label)"))          // an expression, whose value is dropped: plan/expression_function.hpp
//
// Use it for logging, counting and checking. The function takes const T& and returns nothing or a value. A `status`
// that is not ok is an error of the element; other values are ignored. `tap` is another name of the same operator, also
// in plan text, and prints as inspect. The function is called only for elements that are requested, and not for skipped
// elements. It is called again for elements that a resume makes again.
// Order:  as the input's; one call at a time.
// Ends:   with the input.
// Errors: an exception of the function, or the status that it returns, becomes an error of stage "inspect(name)", after
//         the elements before it. Under error_policy::skip the element is dropped and counted.
// State:  none of its own: the input's position.
#pragma once

#include <utility>

#include "sluice/engine/detail/look_functions.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info inspect_op;

struct inspect_arguments {
  function_arg<look_function> function = {};  ///< is called with each element
};

template <class F> class inspect_verb : public stage_base_tag {
 public:
  explicit inspect_verb(F f) : f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (!detail::looks<F, T>) {
      static_assert(detail::element_is<T>::template taken_by<F>, "inspect: the function must take const T&");
      return dataset<refused>();
    } else if constexpr (detail::is_task_type<std::remove_cvref_t<std::invoke_result_t<const F&, const T&>>>) {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "inspect: the function cannot be awaited; map(f) awaits a task<T> that returns the element");
      return dataset<refused>();
    } else {
      inspect_arguments a{detail::adopt(new detail::look_calls<T, F>(f_))};
      return dataset<T>(inspect_op, arguments::of(std::move(a)), in.plan());
    }
  }

 private:
  F f_;
};

template <class F> inspect_verb<F> inspect(F f) { return inspect_verb<F>(std::move(f)); }
template <class F> inspect_verb<F> tap(F f) { return inspect_verb<F>(std::move(f)); }
preserving inspect(expression e);
preserving tap(expression e);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::inspect;
using lib::tap;

}  // namespace sluice
