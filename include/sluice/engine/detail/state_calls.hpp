// SPDX-License-Identifier: Apache-2.0
// Users' functions that change a state, as forms: f(S&, T) that returns an element (scan), and f(S&, T) that returns
// nothing or a status (reduce, group_by_reducer).
//
//   detail::adopt(new detail::scan_function<T, S, F>(std::make_shared<const S>(initial), f))
//
// state_functions.hpp describes which types an S may be, and how it is saved and measured.
// Thread: the function object is const and shared; each state is called by one stage at a time.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/element_functions.hpp"
#include "sluice/engine/detail/state_functions.hpp"

namespace sluice::lib::detail {

template <class F, class S, class T>
concept scans =
    callable_with_state<F, S, T> && !std::is_void_v<state_result<F, S, T>> && !returned<state_result<F, S, T>>::is_task;

/// The loop over a block; one instantiation per user function.
template <class T, class S, class F> struct scan_function final : function_of_state<S> {
  using result_type = state_result<F, S, T>;
  using U = typename returned<result_type>::type;
  static constexpr bool kReturnsResult = returned<result_type>::is_result;
  static constexpr bool kFails = kReturnsResult || !std::is_nothrow_invocable_v<const F&, S&, T&&>;
  F f;

  scan_function(std::shared_ptr<const S> initial, F function)
      : function_of_state<S>(std::move(initial), kFails), f(std::move(function)) {
    describe(*this, f, &type_of<T>(), &type_of<U>());
  }
  applied apply(void* state, const block& from, void* to, bool undo) const override {
    const local_function<F> call = f;  // NOLINT(performance-unnecessary-copy-initialization)
    T* in = from.as<T>();
    U* out = static_cast<U*>(to);
    return this->template each_of<kFails>(state, from.size(), undo, [&](S& s, std::uint32_t i, status& why) {
      if constexpr (kReturnsResult) {
        auto r = call(s, std::move(in[i]));
        if (!r.ok()) {
          why = r.why();
          return false;
        }
        ::new (static_cast<void*>(out + i)) U(*std::move(r));
      } else {
        ::new (static_cast<void*>(out + i)) U(call(s, std::move(in[i])));
      }
      return true;
    });
  }
};

/// A state_function that yields outputs.
struct scanning_form {
  static bool accepts(const stage_function& f);
};

template <class F, class S, class T>
concept reduces = callable_with_state<F, S, T> && (std::is_void_v<std::invoke_result_t<const F&, S&, T&&>> ||
                                                   std::is_same_v<state_result<F, S, T>, status>);

/// The loop over a block; one instantiation per user function.
template <class T, class S, class F> struct reduce_function final : function_of_state<S> {
  static constexpr bool kReturnsStatus = std::is_same_v<state_result<F, S, T>, status>;
  static constexpr bool kFails = kReturnsStatus || !std::is_nothrow_invocable_v<const F&, S&, T&&>;
  F f;

  reduce_function(std::shared_ptr<const S> initial, F function)
      : function_of_state<S>(std::move(initial), kFails), f(std::move(function)) {
    describe(*this, f, &type_of<T>(), nullptr);
    this->state_type = &type_of<S>();
  }
  applied apply(void* state, const block& from, void*, bool undo) const override {
    const local_function<F> call = f;  // NOLINT(performance-unnecessary-copy-initialization)
    T* in = from.as<T>();
    return this->template each_of<kFails>(state, from.size(), undo, [&](S& s, std::uint32_t i, status& why) {
      if constexpr (kReturnsStatus) why = call(s, std::move(in[i]));
      else call(s, std::move(in[i]));
      return why.ok();
    });
  }
};

/// A state_function that yields no outputs.
struct reducing_form {
  static bool accepts(const stage_function& f);
};

}  // namespace sluice::lib::detail
