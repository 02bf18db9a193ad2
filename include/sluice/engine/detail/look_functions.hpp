// SPDX-License-Identifier: Apache-2.0
// Users' functions that read an element and yield nothing, as a form: inspect.
//
//   detail::adopt(new detail::look_calls<T, F>(f))       // f(const T&) → void, status, or any type, which is ignored
//
// Thread: the same as in functions.hpp.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "sluice/base/status.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

struct look_function : stage_function {
  /// Calls the function for the elements of `in`, which stay unchanged. An error belongs to element `done`.
  virtual applied look(const block& in) const = 0;
};

namespace detail {

template <class F, class T> concept looks = std::invocable<const F&, const T&>;
/// True for a task. inspect rejects such a result, because it would never be awaited.
template <class R> inline constexpr bool is_task_type = false;
template <class R> inline constexpr bool is_task_type<task<R>> = true;

template <class T, class F> struct look_calls final : look_function {
  F f;
  explicit look_calls(F function) : f(std::move(function)) { describe(*this, f, &type_of<T>(), &type_of<T>()); }
  applied look(const block& from) const override {
    using returned = std::remove_cvref_t<std::invoke_result_t<const F&, const T&>>;
    const T* p = from.as<T>();
    const local_function<F> call = f;  // NOLINT(performance-unnecessary-copy-initialization)
    std::uint32_t i = 0;
    try {
      for (; i != from.size(); ++i) {
        if constexpr (std::is_same_v<returned, status>) {
          status why = detail::call(call, p[i]);
          if (!why.ok()) return {i, std::move(why)};
        } else {
          static_cast<void>(detail::call(call, p[i]));
        }
      }
    } catch (...) { return {i, current_exception_status()}; }
    return {i, {}};
  }
};

}  // namespace detail

}  // namespace sluice::lib
