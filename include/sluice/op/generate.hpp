// SPDX-License-Identifier: Apache-2.0
// generate: a user's own coroutine as a source.
//
//   stream<std::int64_t> squares() { for (std::int64_t i = 0;; ++i) co_yield i * i; }
//   auto ds = generate(squares) | take(10);
//
// The function is called once for each run and epoch. It returns a coroutine, which is a stage.
// Order:  that of the coroutine's co_yields.
// Ends:   when the coroutine returns.
// Errors: an exception of the coroutine becomes an error of stage "generate(name)".
// State:  a resume runs the coroutine from its start and skips the elements delivered before, unless it has a `saved`
//         parameter and calls commit() (coro/saved.hpp).
#pragma once

#include <utility>

#include "sluice/engine/detail/stream_functions.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info generate_op;

struct generate_arguments {
  function_arg<detail::generator_form> function = {};  ///< a coroutine without further parameters
};

template <std::invocable F> auto generate(F f) {
  using function = detail::generator_function<F>;
  return dataset<typename function::T>(generate_op,
                                       arguments::of(generate_arguments{detail::adopt(new function(std::move(f)))}));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::generate;

}  // namespace sluice
