// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/reduce.hpp"

#include <utility>

#include "engine/held/state_box.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// The number of elements requested at once. The whole input is read, so the number is large enough that hops cost
/// nothing.
constexpr std::uint32_t kAtOnce = 4096;

function_ptr finish_of(const node& n) { return n.as<reduce_arguments>().options.finish.value; }

// A position records whether the element was delivered, and not the state, because the stage is never at rest while it
// reads elements.
erased_stream reduce_loop(outlet out, saved<bool> delivered, erased_stream in, state_box state, function_ptr finish,
                          error_gate gate) {
  const state_function& f = state.function();
  // With error_policy::skip no element exists if its `finish` fails. Only a call shows that, so it is made for a
  // skipped element, too.
  const bool may_be_none = finish && gate.skips();
  if (!*delivered && (may_be_none || out.pass(1) == 0)) {
    for (;;) {
      bool more = co_await in.ready({0, kAtOnce, demand::kBytes});
      if (!more) break;
      std::uint64_t first = in.consumed();
      applied a = f.apply(state.get(), block(nullptr, &in.type(), in.peek().data(), in.left()), nullptr, gate.skips());
      in.drop(a.done);
      status fits = state.charge(a.done);
      if (!fits.ok()) co_await fail(std::move(fits));
      if (a.why.ok()) continue;
      auto settled = gate.settle(out, a.why, first + a.done);
      co_await settled;
      in.drop(1);
    }
    status why = finish_state(f, finish, state.get(), out.room(1));
    if (!why.ok()) {
      auto settled = gate.settle(out, why);
      co_await settled;
    }
    *delivered = true;
    if (why.ok()) co_yield out.made(1);
  }
  *delivered = true;
}

erased_stream open_reduce(const node& n, open_context& context) {
  auto& a = n.as<reduce_arguments>();
  outlet out(*n.type);
  error_gate gate = context.gate(n);
  state_box state(a.function.value, a.options.initial_state, context.run, gate);
  check_can_undo(state.function(), gate);
  return reduce_loop(out, saved<bool>(), context.open(n.inputs[0]), std::move(state), finish_of(n), std::move(gate));
}

const element_type* reduced_type(const node& n, std::string& why) {
  auto& a = n.as<reduce_arguments>();
  why = initial_mistake(a.initial, *a.function.value);
  if (!why.empty()) return nullptr;
  auto& f = static_cast<const state_function&>(*a.function.value);
  why = initial_state_mistake(f, a.options.initial_state);
  if (!why.empty()) return nullptr;
  type_of_function(n, a.function.value, why);
  if (!why.empty()) return nullptr;
  function_ptr finish = finish_of(n);
  if (!finish) return f.state_type;
  if (finish->in == f.state_type) return finish->out;
  why = "finish expects " + finish->in->name + ", and gets the state, " + f.state_type->name;
  return nullptr;
}

}  // namespace

const op_info reduce_op{
    .name = "reduce",
    .doc = "combines all elements into one",
    .arguments = arguments_of<reduce_arguments>,
    .type = reduced_type,
    .facts = {.size =
                  [](const node& n) {
                    bool ends = cardinality_of(*n.inputs[0]).kind != cardinality::infinite;
                    return ends ? cardinality::of(1) : cardinality();
                  }},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_reduce},
};

}  // namespace sluice::lib
