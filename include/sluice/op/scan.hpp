// SPDX-License-Identifier: Apache-2.0
// scan: each element becomes f(state, element); f changes the state for the next element.
//
//   range(5) | scan([](std::int64_t& sum, std::int64_t x) { return sum += x; })                 // 0, 1, 3, 6, 10
//   range(5) | scan(std::int64_t{9}, [](auto& sum, std::int64_t x) { return sum += x; })        // 9, 10, 12, 15, 19
//
//   range(5) | scan(expr<std::int64_t>("9"), expr("state + it"))                                // 9, 10, 12, 15, 19
//
// An expression (plan/expression_function.hpp) yields the new state, which is the element: scan(9, state + it) in plan
// text. The state has the type of the initial state, or the type of the expression if its value does not fit into the
// former. f takes S& and T, T&& or const T&, and returns U or result<U> (an error by value). The initial state is the
// first argument; if it is omitted, the initial state is an S{}, where S is the type of f's parameter. S is a type that
// checkpoints can contain (engine/detail/state_functions.hpp).
// Shape:  U; one element for each element of the input.
// Order:  as the input's. f is called once for each element, in their order; there is no parallelism.
// Ends:   with the input.
// Errors: an exception, or an error that f returns, becomes an error of stage "scan(name)", with the element's number,
//         after the elements before it. Under error_policy::skip the element is dropped and counted, and the state
//         remains as it was before that element; for this it is copied before each element, unless f is noexcept.
//         invalid_argument, when the run starts: f may fail, the policy is skip, and the state cannot be copied.
//         resource_exhausted: the state takes more than 1 MiB in a checkpoint. failed_precondition: the state in a
//         checkpoint has a version that this program does not read.
// State:  the value of f's state, and the input's position. Skipping elements calls f, because the state depends on
//         them.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sluice/engine/detail/state_calls.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/expression_function.hpp"

namespace sluice::lib {

extern const op_info scan_op;

struct scan_options {
  /// the serialized initial state, in hexadecimal, as in checkpoints; empty: an S{}. In C++ it is a separate argument
  std::string initial_state = {};
};
struct scan_arguments {
  initial_value initial =
      {};  ///< for an expression with `state`: the first state; it may be omitted if the function comes first
  function_arg<detail::scanning_form> function = {};  ///< returns an element from a state, which it changes, and an
                                                      ///< element
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
      scan_arguments a{.initial = {}, .function = detail::adopt(f)};
      a.options.initial_state = f->initial_text();
      return dataset<typename function::U>(scan_op, arguments::of(std::move(a)), in.plan());
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

/// Scans from the initial state `initial`, which is converted to the type of f's parameter if f has one signature.
template <class S, class F> auto scan(S initial, F f) {
  using state = typename detail::state_changed_by<F, S>::type;
  return scan_verb<state, F>(std::shared_ptr<const state>(new state(std::move(initial))), std::move(f));
}
/// Scans from a value-initialized state of the type of f's parameter. REQUIRES: f has one signature.
template <detail::has_signature F> auto scan(F f) {
  using state = typename detail::signature_of<F>::argument;
  return scan_verb<state, F>(std::shared_ptr<const state>(new state()), std::move(f));
}

arguments scan_by_expression(expression initial, expression step, const element_type& state);
/// Scans by an expression; its values and `state` are of type S. Errors: as for map; the state must be a type that can
/// be serialized.
template <class S> verb<detail::becomes<S>::template of> scan(typed_expression<S> initial, expression step) {
  return {scan_op, scan_by_expression(std::move(initial.value), std::move(step), type_of<S>())};
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::scan;

}  // namespace sluice
