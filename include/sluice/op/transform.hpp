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
// Errors: what it throws while element n of its input is the one it took last is element n's error, of the stage
//         "transform(name)". An error of the input passes through it (coro/promise.hpp); what tasks that it awaits fail
//         with is thrown in it. Under error_policy::skip its own errors are counted and the stage goes on behind n: a
//         coroutine that threw is over, so the function is called anew for the rest of the input.
//           - What was yielded for n before the throw is delivered, once.
//           - A `stateless` coroutine starts afresh.
//           - saved<S> has the value of before n. Such a stage is given its input one element at a time under skip.
//           - One that commits has the value of its last commit(). What it took since is dropped with n; each is counted.
//           - One that is none of these ends at n: nothing says what it remembers, and the error says what to add.
//           - A throw before the first element or after the last, and one in several coroutines joined by one function
//             (give each a transform), ends the stage.
//         After a resume, bad elements behind the resume point are met, and counted, again.
//
//           stream<sample> decoded(stateless, stream<record> in) {                // drops what does not parse
//             while (auto r = co_await in.next()) co_yield parse_or_throw(*r);
//           }
//           auto ds = tfrecord("a") | transform([](stream<record> in) { return decoded(stateless(), std::move(in)); });
// State:  by replay from its start, unless it is `stateless`, has a `saved` parameter or commits (coro/saved.hpp).
#pragma once

#include <type_traits>

#include "sluice/coro/stream.hpp"
#include "sluice/engine/functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info transform_op;

namespace detail {

template <class T> inline constexpr bool is_stream = false;
template <class T> inline constexpr bool is_stream<stream<T>> = true;
template <class F, class T>
concept transforms = std::invocable<const F&, stream<T>> && is_stream<std::invoke_result_t<const F&, stream<T>>>;

template <class T, class F> struct transform_function final : stream_function {
  using U = typename std::invoke_result_t<const F&, stream<T>>::value_type;
  F f;
  explicit transform_function(F function) : f(std::move(function)) {
    describe(*this, f, &type_of<T>(), &type_of<U>());
    set_label("transform");
  }
  erased_stream open(erased_stream input) const override {
    stream<T> typed(std::move(input));
    return erased_stream(detail::call(f, std::move(typed)));
  }
};

/// A stream_function that takes a stream.
struct transform_form {
  static bool accepts(const stage_function& f);
};

}  // namespace detail

struct transform_arguments {
  function_arg<detail::transform_form> function = {};  ///< a coroutine that takes a stream
};

template <class F> class transform_verb : public stage_base_tag {
 public:
  explicit transform_verb(F f) : f_(std::move(f)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    if constexpr (detail::transforms<F, T>) {
      using function = detail::transform_function<T, F>;
      return dataset<typename function::U>(
          make_stage(transform_op, arguments::of(transform_arguments{detail::adopt(new function(f_))}), in.plan()));
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "transform: the coroutine must take stream<T> and return stream<U>");
      return dataset<refused>();
    }
  }

 private:
  F f_;
};

template <class F> transform_verb<F> transform(F f) { return transform_verb<F>(std::move(f)); }

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::transform;

}  // namespace sluice
