// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/drop_while.hpp"

#include <algorithm>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

erased_stream drop_while_loop(outlet out, saved<bool> begun, erased_stream in, function_ptr function,
                              std::uint64_t seed, error_gate gate) {
  auto& p = static_cast<const predicate_function&>(*function);
  if (!*begun) in.may_go_back();
  while (!*begun) {
    bool more = co_await in.ready({0, out.ask(), out.wanted_bytes()});
    if (!more) break;
    block view(nullptr, &in.type(), in.peek().data(), in.left());
    predicate_function::outcome tested = p.keep_while(view, {in.consumed(), seed});
    in.drop(tested.kept);
    if (!tested.why.ok()) {
      auto settled = gate.settle(out, tested.why, in.consumed());  // ends the stage if the element must not be dropped
      co_await settled;
      in.drop(1);
      continue;
    }
    if (tested.kept == tested.seen) continue;
    // Yielded alone: a mark before it reads this element again, and none after it.
    *begun = true;
    std::uint64_t passed = out.pass(1);
    if (passed) {
      in.drop(1);
      break;
    }
    co_yield in.take(1);
  }
  for (;;) {
    std::uint64_t passed = out.pass(demand::kAll);
    auto b = co_await in.next_block({passed, out.wanted(), out.wanted_bytes()});
    if (!b) {
      if (passed) out.unpass(in.skip_left());
      break;
    }
    co_yield b;
  }
}

erased_stream open_drop_while(const node& n, open_context& context) {
  outlet out(*n.type);
  auto& a = n.as<drop_while_arguments>();
  const function_ptr& function = a.function.value;
  std::uint64_t seed = function->draws ? context.seed_of(n, a.options.seed.value) : 0;
  error_gate gate = context.gate(n);
  saved<bool> begun;
  return drop_while_loop(out, std::move(begun), context.open(n.inputs[0]), function, seed, std::move(gate));
}

}  // namespace

const op_info drop_while_op{
    .name = "drop_while",
    .doc = "skips elements until a predicate is false",
    .arguments = arguments_of<drop_while_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<drop_while_arguments>().function.value, why); },
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false},
              .members = member_use::passed},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_drop_while},
};

}  // namespace sluice::lib
