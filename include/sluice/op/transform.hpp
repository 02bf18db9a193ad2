// SPDX-License-Identifier: Apache-2.0
// transform: a user's own coroutine as a stage.
//
//   stream<std::string> words(stream<line> in) {
//     while (auto l = co_await in.next())
//       for (auto w : split(l->view())) co_yield std::string(w);
//   }
//   auto ds = lines("a.txt") | transform(words) | batch(10);
//
// The coroutine takes stream<T> and returns stream<U>; further parameters can be bound by a function that calls it.
// Order:  as it yields.
// Errors: what it throws, with stage "transform(name)"; an error of the input passes through it (coro/promise.hpp).
// State:  by replay from its start, unless it is `stateless`, has a `saved` parameter or commits (coro/saved.hpp).
#pragma once

#include <type_traits>

#include "sluice/coro/stream.hpp"
#include "sluice/op/functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice {
namespace detail {

template <class T> inline constexpr bool is_stream = false;
template <class T> inline constexpr bool is_stream<stream<T>> = true;
template <class F, class T>
concept transforms = std::invocable<const F&, stream<T>> && is_stream<std::invoke_result_t<const F&, stream<T>>>;

template <class T, class F> struct transform_function final : stream_function {
  using U = typename std::invoke_result_t<const F&, stream<T>>::value_type;
  F f;
  explicit transform_function(F function) : f(std::move(function)) { describe(*this, f, &type_of<T>(), &type_of<U>()); }
  erased_stream open(erased_stream input) const override {
    stream<T> typed(std::move(input));
    return erased_stream(detail::call(f, std::move(typed)));
  }
};

}  // namespace detail

template <class F> class transform_stage : public stage_base_tag {
 public:
  explicit transform_stage(F f) : f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::transforms<F, T>) {
      using function = detail::transform_function<T, F>;
      return dataset<typename function::U>(
          make_stage("transform", options::of(no_fields{}), in.plan(), detail::adopt(new function(f_))));
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "transform: the coroutine must take stream<T> and return stream<U>");
      return dataset<refused>();
    }
  }

 private:
  F f_;
};

template <class F> transform_stage<F> transform(F f) { return transform_stage<F>(std::move(f)); }

}  // namespace sluice
