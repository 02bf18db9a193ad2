// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/scan.hpp"

#include <algorithm>
#include <utility>

#include "engine/held/state_box.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

// Skipped elements are computed, because the state depends on them. At each co_yield the state accounts for exactly the
// elements that have left the input's view.
erased_stream scan_loop(outlet out, saved<state_box> state, erased_stream in, error_gate gate) {
  const state_function& f = state->function();
  // The rest of the view after a bad element is retained: for the next demand, or, if the error ends the run, for the
  // marks of the stages downstream.
  // above.
  if (gate.skips() || f.can_fail) in.may_go_back();
  block_fit fit(out.type(), true);
  for (;;) {
    bool more = co_await in.ready({0, fit.at_most(out.ask()), out.wanted_bytes()});
    if (!more) break;
    std::uint32_t n = std::min(in.left(), fit.at_most(out.ask()));
    std::uint64_t first = in.consumed();
    applied a = f.apply(state->get(), block(nullptr, &in.type(), in.peek().data(), n), out.room(n), gate.skips());
    in.drop(a.done);
    block made = out.made(a.done);
    fit.made(made, out.wanted_bytes());
    if (!a.why.ok() && !gate.may_drop(a.why)) {
      status why = gate.located(a.why, first + a.done);
      if (made && (f.always_undoes || gate.skips())) co_yield made;
      else out.hold(made);  // without a co_yield, because the state may be invalid now
      co_await fail(std::move(why));
    }
    status fits = state->charge(a.done);
    if (!fits.ok()) {
      out.hold(made);
      co_await fail(std::move(fits));
    }
    if (made) co_yield made;
    if (!a.why.ok()) {
      auto settled = gate.settle(out, a.why, first + a.done);
      co_await settled;
      in.drop(1);  // a resume skips it from here on
    }
  }
}

erased_stream open_scan(const node& n, open_context& context) {
  auto& a = n.as<scan_arguments>();
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  saved<state_box> state(state_box(a.function.value, a.options.initial_state, context.run, gate));
  check_can_undo(state->function(), gate);
  return scan_loop(out, std::move(state), context.open(n.inputs[0]), std::move(gate));
}

const element_type* scanned_type(const node& n, std::string& why) {
  auto& a = n.as<scan_arguments>();
  why = initial_mistake(a.initial, *a.function.value);
  if (!why.empty()) return nullptr;
  why = initial_state_mistake(static_cast<const state_function&>(*a.function.value), a.options.initial_state);
  return why.empty() ? type_of_function(n, a.function.value, why) : nullptr;
}

}  // namespace

const op_info scan_op{
    .name = "scan",
    .doc = "each element becomes f(state, element), which changes the state",
    .arguments = arguments_of<scan_arguments>,
    .type = scanned_type,
    .facts = {.always = {.outputs = output_count::one_per_input, .keeps_order = true, .may_fail = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); }},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_scan},
};

}  // namespace sluice::lib
