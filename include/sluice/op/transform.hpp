// SPDX-License-Identifier: Apache-2.0
// transform: a user's own coroutine as a stage.
//
//   stream<std::string> words(stream<line> in) {
//     while (auto l = co_await in.next())
//       for (auto w : split(l->view())) co_yield std::string(w);
//   }
//   auto ds = lines("a.txt") | transform(words) | batch(10);
//
// The coroutine takes stream<T> and returns stream<U>. A parameter before the stream, `stateless` or saved<S>, begins
// with its default value. Parameters after the stream get the further arguments of transform, of which each stream has
// its own copy:
//
//   stream<std::int64_t> above(saved<std::int64_t> seen, stream<std::int64_t> in, std::int64_t least);
//   auto large = range(10) | transform(above, 5);
//
// A checkpoint compares the arguments, and the name and version of fn("above", 1, above). Arguments that are not numbers,
// texts, or structures and lists of those cannot be compared, and the run warns.
//
// Order:  that of the coroutine's co_yields.
// Errors: an exception of the coroutine is an error of the input element that it consumed last, element n, and of the
//         stage "transform(name)". An error of the input ends the stage without being thrown in the coroutine
//         (coro/detail/promise.hpp); errors of tasks that it awaits are thrown in it. Under error_policy::skip element n is
//         dropped and counted. A coroutine that has thrown has ended, so the function is called again for the rest of
//         the input:
//           - Elements that were yielded for n before the exception are delivered, once.
//           - A `stateless` coroutine starts without any state.
//           - A saved<S> has the value that it had before n. (To make that possible, the stage gets its input one
//             element at a time under skip.)
//           - If the coroutine calls commit(), its saved values are those of the last commit(); all elements that it
//             has consumed since then are dropped with n, and each is counted.
//           - If it has none of these, the stream ends with the error, because its state is not known; the message says
//             what to add.
//           - An exception before the first element or after the last one ends the stream; so does one in a coroutine
//             that is one of several which the function has connected (write a transform for each instead).
//         A resumed run drops the bad elements after its resume point again, and counts them again.
//
//           stream<sample> decoded(stateless, stream<record> in) {                // drops what does not parse
//             while (auto r = co_await in.next()) co_yield parse_or_throw(*r);
//           }
//           auto ds = tfrecord("a") | transform(decoded);
// State:  a resume runs the coroutine from its start and skips the elements delivered before, unless it is `stateless`,
//         has a `saved` parameter or calls commit() (coro/saved.hpp).
#pragma once

#include <utility>

#include "sluice/engine/detail/stream_functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info transform_op;

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
          transform_op, arguments::of(transform_arguments{detail::adopt(new function(f_))}), in.plan());
    } else if constexpr (detail::transforms<detail::stage_call<F>, T>) {
      return transform_verb<detail::stage_call<F>>({f_, {}}).apply(in);
    } else {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "transform: the coroutine must take stream<T> and return stream<U>; further arguments of "
                    "transform follow the stream");
      return dataset<refused>();
    }
  }

 private:
  F f_;
};

template <class F> transform_verb<F> transform(F f) { return transform_verb<F>(std::move(f)); }
/// Calls f(in, arguments…) for each stream.
template <class F, class... A>
  requires(sizeof...(A) != 0)
transform_verb<detail::stage_call<F, A...>> transform(F f, A... arguments) {
  return transform_verb<detail::stage_call<F, A...>>({std::move(f), {std::move(arguments)...}});
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::transform;

}  // namespace sluice
