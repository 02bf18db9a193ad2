// SPDX-License-Identifier: Apache-2.0
// filter: the elements for which a predicate returns true.
//
//   numbers | filter([](std::int64_t x) { return x % 2 == 0; })
//
// The predicate takes const T& and returns bool.
// Order:  as the input's.
// Errors: an exception of the predicate becomes an error of stage "filter(name)", after the elements before it. Under
//         error_policy::skip the element is dropped and counted.
// State:  none of its own. Passing over elements calls the predicate, which alone tells which elements count.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "sluice/engine/functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info filter_op;

namespace detail {

template <class F, class T> concept filters = std::predicate<const F&, const T&>;

template <class T, class F> struct filter_function final : predicate_function {
  F f;
  explicit filter_function(F function) : f(std::move(function)) { describe(*this, f, &type_of<T>(), &type_of<T>()); }
  outcome keep(const block& from) const override {
    T* p = from.as<T>();
    std::uint32_t n = from.size(), k = 0, i = 0;
    const local_function<F> call = f;
    try {
      for (; i != n; ++i) {
        bool yes = detail::call(call, std::as_const(p[i]));
        if constexpr (std::is_trivially_copyable_v<T>) {
          p[k] = p[i];  // without a branch: the results of predicates are hard to predict
          k += yes;
        } else if (yes) {
          if (k != i) replace(p[k], p[i]);
          ++k;
        }
      }
    } catch (...) { return {k, i, current_exception_status()}; }
    return {k, n, {}};
  }

 private:
  static void replace(T& to, T& from) {
    if constexpr (std::is_move_assignable_v<T>) {
      to = std::move(from);
    } else {
      to.~T();
      ::new (static_cast<void*>(&to)) T(std::move(from));
    }
  }
};

}  // namespace detail

struct filter_arguments {
  function_arg<predicate_function> function = {};  ///< true: the element is kept
};

template <class F> class filter_verb : public stage_base_tag {
 public:
  explicit filter_verb(F f) : f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::filters<F, T>) {
      return dataset<T>(make_stage(
          filter_op, arguments::of(filter_arguments{detail::adopt(new detail::filter_function<T, F>(f_))}), in.plan()));
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "filter: the function must take const T& and return bool");
      return dataset<refused>();
    }
  }

 private:
  F f_;
};

template <class F> filter_verb<F> filter(F f) { return filter_verb<F>(std::move(f)); }

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::filter;

}  // namespace sluice
