// SPDX-License-Identifier: Apache-2.0
// scan: each element becomes f(state, element), where f changes the state that it leaves for the next.
//
//   range(5) | scan([](std::int64_t& sum, std::int64_t x) { return sum += x; })                 // 0, 1, 3, 6, 10
//   range(5) | scan(std::int64_t{100}, [](auto& sum, std::int64_t x) { return sum += x; })      // 100, 101, 103, 106, 110
//
// f takes S& and T, T&& or const T&, and returns U or result<U> (an error by value). The state begins as the value that
// stands first, or as an S{}, S being f's own; its types are those that a checkpoint can hold (engine/state_functions.hpp).
// Shape:  U; one for each element of the input.
// Order:  as the input's. f is called for one element after the other, each once, in order: there is no parallelism.
// Ends:   with the input.
// Errors: what f throws or returns is a status of stage "scan(name)", with the element's number, after the elements before it.
//         Under error_policy::skip the element is dropped and counted, and the state is what it was before it: so it is
//         copied before each element, unless f is noexcept. invalid_argument, when the run starts: f may fail, the policy
//         is skip, and the state cannot be copied. resource_exhausted: the state takes more than 1 MiB in a checkpoint.
//         failed_precondition: a checkpoint's state has a version that this program does not read.
// State:  the state, by value, and the input's position. Passing over elements calls f: only so the state is known behind
//         them.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/engine/state_functions.hpp"
#include "sluice/op/map.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info scan_op;

namespace detail {

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

/// A state_function that makes outputs.
struct scanning_form {
  static bool accepts(const stage_function& f);
};

}  // namespace detail

struct scan_options {
  /// what the state begins as, saved and in hexadecimal; empty: an S{}. C++ has the value in front of the function
  std::string initial_state = {};
};
struct scan_arguments {
  function_arg<detail::scanning_form> function = {};  ///< from a state, which it changes, and an element to another one
  scan_options options = {};
};

template <class S, class F> class scan_verb : public stage_base_tag {
 public:
  scan_verb(std::shared_ptr<const S> initial, F f) : initial_(std::move(initial)), f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    static_assert(detail::function_state<S>, "scan: " SLUICE_STATE_RULE);
    if constexpr (!detail::function_state<S>) {
      return dataset<refused>();
    } else if constexpr (detail::scans<F, S, T>) {
      using function = detail::scan_function<T, S, F>;
      auto* f = new function(initial_, f_);
      scan_arguments a{detail::adopt(f), {}};
      a.options.initial_state = f->initial_text();
      return dataset<typename function::U>(make_stage(scan_op, arguments::of(std::move(a)), in.plan()));
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "scan: the function must take S& and the element (T, const T& or T&&), and return the new element; "
                    "it cannot be awaited");
      return dataset<refused>();
    }
  }

 private:
  std::shared_ptr<const S> initial_;
  F f_;
};

/// From `initial` on; of the type that f changes, where f has one signature.
template <class S, class F> auto scan(S initial, F f) {
  using state = typename detail::state_changed_by<F, S>::type;
  return scan_verb<state, F>(std::shared_ptr<const state>(new state(std::move(initial))), std::move(f));
}
/// From the S{} on that f changes. f has one signature.
template <detail::has_signature F> auto scan(F f) {
  using state = typename detail::signature_of<F>::argument;
  return scan_verb<state, F>(std::shared_ptr<const state>(new state()), std::move(f));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::scan;

}  // namespace sluice
