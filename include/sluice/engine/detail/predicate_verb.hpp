// SPDX-License-Identifier: Apache-2.0
// The C++ form of the operators that call a predicate for each element: filter, take_while, drop_while.
//
//   template <class F> auto filter(F f) { return predicate_verb<filter_op, filter_arguments, F>(std::move(f)); }
//
// The arguments begin with a function_arg<predicate_function>, and have one more member, the options.
#pragma once

#include <utility>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

template <const op_info& op, class Arguments, class F> class predicate_verb : public stage_base_tag {
 public:
  explicit predicate_verb(F f) : f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::filters<F, T>) {
      Arguments a{detail::adopt(new detail::filter_function<T, F>(f_)), {}};
      return dataset<T>(op, arguments::of(std::move(a)), in.plan());
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "a predicate: the function must take const T& and return bool");
      return dataset<refused>();
    }
  }

 private:
  F f_;
};

}  // namespace sluice::lib
