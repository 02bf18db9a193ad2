// SPDX-License-Identifier: Apache-2.0
// reduce: combines all elements into one: the final state, or the value that `finish` makes of it.
//
//   range(5) | reduce([](std::int64_t& sum, std::int64_t x) { sum += x; })                           // 10
//   range(5) | reduce(std::int64_t{1}, [](auto& product, std::int64_t x) { product *= x + 1; })      // 120
//   range(5) | reduce([](std::int64_t& sum, std::int64_t x) { sum += x; }, [](std::int64_t sum) { return -sum; })     // -10
//   lines("names.txt") | reduce(std::string(), [](auto& last, const line& l) { last = l.view(); }, &std::string::size)
//
//   range(5) | reduce(expr<std::int64_t>("0"), expr("state + it"))                                  // 10
//
// An expression yields the new state, as in scan: reduce(0, state + it) in plan text. f takes S& and T, T&& or const
// T&, and returns nothing, or a status. The initial state is the first argument; if it is omitted, the initial state is
// an S{}, where S is the type of f's parameter. S is a type that checkpoints can contain (engine/detail/state_functions.hpp).
// `finish` takes S, S&& or const S& and returns U or result<U>. An f with auto parameters needs an initial state.
// Shape:  S, or U; exactly one element, even if the input is empty.
// Order:  f is called once for each element, in their order.
// Ends:   after that one element, which is delivered when the input has ended.
// Errors: an exception, or an error that f returns, becomes an error of stage "reduce(name)", with the element's
//         number. Under error_policy::skip the element is dropped and counted, and the state remains as it was before
//         that element, as in scan. An error of `finish` ends the run; under skip it is counted, and no element is
//         delivered. invalid_argument: as in scan.
// State:  whether the element was delivered. A run that resumes before that reads the whole input again. Skipping the
//         element reads nothing, except under skip with a `finish`: it may fail, and then there is no element to skip.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/state_calls.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info reduce_op;

struct reduce_options {
  /// makes the element from the last state; not given: the element is the state
  optional_function<detail::finishing_form> finish = {};
  /// the serialized initial state, in hexadecimal, as in checkpoints; empty: an S{}. In C++ it is a separate argument
  std::string initial_state = {};
};
struct reduce_arguments {
  initial_value initial =
      {};  ///< for an expression with `state`: the first state; it may be omitted if the function comes first
  function_arg<detail::reducing_form> function = {};  ///< changes a state by an element, and returns nothing
  reduce_options options = {};
};

template <class S, class F, class Finish> class reduce_verb : public stage_base_tag {
 public:
  reduce_verb(std::shared_ptr<const S> initial, F f, Finish finish)
      : initial_(std::move(initial)), f_(std::move(f)), finish_(std::move(finish)) {}
  template <class T> auto apply(const dataset<T>& in) const {
    static_assert(detail::function_state<S>, "reduce: " SLUICE_STATE_RULE);
    if constexpr (!detail::function_state<S>) {
      return dataset<refused>();
    } else if constexpr (!detail::reduces<F, S, T>) {
      static_assert(detail::element_is<T>::template taken_by<F>,
                    "reduce: the function must take S& and the element (T, const T& or T&&), and return nothing or a "
                    "status; it cannot be awaited");
      return dataset<refused>();
    } else {
      auto* f = new detail::reduce_function<T, S, F>(initial_, f_);
      reduce_arguments a{.initial = {}, .function = detail::adopt(f)};
      a.options.initial_state = f->initial_text();
      if constexpr (std::is_same_v<Finish, detail::no_finish>) {
        return dataset<S>(reduce_op, arguments::of(std::move(a)), in.plan());
      } else if constexpr (detail::finishes<Finish, S>) {
        using function = detail::map_function<S, Finish>;
        detail::set_function(a.options.finish, detail::adopt(new function(finish_)));
        return dataset<typename function::U>(reduce_op, arguments::of(std::move(a)), in.plan());
      } else {
        static_assert(detail::element_is<S>::template taken_by<Finish>,
                      "reduce: the second function must take the state (S, const S& or S&&) and return a value");
        return dataset<refused>();
      }
    }
  }

 private:
  std::shared_ptr<const S> initial_;
  F f_;
  Finish finish_;
};

/// Reduces from the initial state `initial`, which is converted to the type of f's parameter if f has one signature.
template <class S, class F, class Finish = detail::no_finish>
  requires(!detail::takes_two<S>)
auto reduce(S initial, F f, Finish finish = {}) {
  using state = typename detail::state_changed_by<F, S>::type;
  static_assert(
      std::is_constructible_v<state, S>,
      "reduce: the initial state must convert to the state that the function changes; where a function stands "
      "first it takes S& and the element, and no parameter of it is auto");
  return reduce_verb<state, F, Finish>(std::shared_ptr<const state>(new state(std::move(initial))), std::move(f),
                                       std::move(finish));
}
/// Reduces from a value-initialized state of the type of f's parameter. REQUIRES: f has one signature.
template <detail::has_signature F> auto reduce(F f) {
  using state = typename detail::signature_of<F>::argument;
  return reduce_verb<state, F, detail::no_finish>(std::shared_ptr<const state>(new state()), std::move(f), {});
}
template <detail::takes_two F, class Finish> auto reduce(F f, Finish finish) {
  using state = typename detail::signature_of<F>::argument;
  return reduce_verb<state, F, Finish>(std::shared_ptr<const state>(new state()), std::move(f), std::move(finish));
}

arguments reduce_by_expression(expression initial, expression step, const element_type& state);
/// Reduces by an expression; its values and `state` are of type S. Errors: as for scan.
template <class S> verb<detail::becomes<S>::template of> reduce(typed_expression<S> initial, expression step) {
  return {reduce_op, reduce_by_expression(std::move(initial.value), std::move(step), type_of<S>())};
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::reduce;

}  // namespace sluice
