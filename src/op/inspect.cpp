// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/inspect.hpp"

#include <algorithm>

#include "element/batches/blocks.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

erased_stream inspect_loop(outlet out, one_to_one, erased_stream in, function_ptr function, error_gate gate) {
  auto& f = static_cast<const look_function&>(*function);
  while (auto b = co_await in.next_block({0, out.wanted(), out.wanted_bytes()})) {
    applied a = f.look(b);
    if (!a.why.ok()) {
      out.hold(b.first(a.done));
      status why = gate.located(a.why, in.consumed() - b.size() + a.done);
      co_await fail(std::move(why));
    }
    co_yield b;
  }
}

/// The loop of a stage that drops bad elements. It inspects all elements, to find the good ones.
erased_stream inspect_tolerant_loop(outlet out, erased_stream in, function_ptr function, error_gate gate) {
  auto& f = static_cast<const look_function&>(*function);
  in.may_go_back();
  while (auto b = co_await in.next_block({0, out.ask(), out.wanted_bytes()})) {
    while (b) {
      // The rest of the view after a bad element serves another demand, which may be smaller than the first.
      block whole = b, part = b.first(std::min(b.size(), out.ask()));
      applied a = f.look(part);
      std::uint32_t seen = a.done;
      in.hold_from(in.consumed() - (whole.size() - seen));  // a resume reads the rest of this view again
      if (seen) co_yield part.first(seen);
      if (!a.why.ok()) {
        auto settled = gate.settle(out, a.why, in.consumed() - whole.size() + seen);
        co_await settled;
        in.hold_from(in.consumed() - (whole.size() - ++seen));
      }
      if (seen == whole.size()) break;
      b = tail_of(whole, seen);
    }
  }
}

erased_stream open_inspect(const node& n, open_context& context) {
  outlet out(*n.type);
  const function_ptr& function = n.as<inspect_arguments>().function.value;
  error_gate gate = context.gate(n);
  erased_stream in = context.open(n.inputs[0]);
  if (gate.skips()) return inspect_tolerant_loop(out, std::move(in), function, std::move(gate));
  return inspect_loop(out, one_to_one{}, std::move(in), function, std::move(gate));
}

}  // namespace

const op_info inspect_op{
    .name = "inspect",
    .doc = "calls a function with each element",
    .arguments = arguments_of<inspect_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<inspect_arguments>().function.value, why); },
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false,
                         .has_effects = true,
                         .has_record = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_inspect},
};

}  // namespace sluice::lib
