// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/take_while.hpp"

#include <algorithm>

#include "element/batches/blocks.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

// Skipped elements are tested, because one of them may be the last.
erased_stream take_while_loop(outlet out, saved<bool> ended, erased_stream in, function_ptr function,
                              std::uint64_t seed, error_gate gate) {
  auto& p = static_cast<const predicate_function&>(*function);
  while (!*ended) {
    auto b = co_await in.next_block({0, out.ask(), out.wanted_bytes()});
    if (!b) break;
    predicate_function::outcome tested = p.keep_while(b, {in.consumed() - b.size(), seed});
    block kept = b.first(tested.kept);
    if (!tested.why.ok()) {
      out.hold(kept);
      status why = gate.located(tested.why, in.consumed() - b.size() + tested.seen);
      co_await fail(std::move(why));
    }
    *ended = tested.kept != b.size();
    if (kept) co_yield kept;
  }
}

/// The loop of a stage that drops bad elements: the next demand tests the rest of their view.
erased_stream take_while_tolerant_loop(outlet out, saved<bool> ended, erased_stream in, function_ptr function,
                                       std::uint64_t seed, error_gate gate) {
  auto& p = static_cast<const predicate_function&>(*function);
  in.may_go_back();
  while (!*ended) {
    auto b = co_await in.next_block({0, out.ask(), out.wanted_bytes()});
    if (!b) break;
    while (b && !*ended) {
      block whole = b, part = b.first(std::min(b.size(), out.ask()));
      predicate_function::outcome tested = p.keep_while(part, {in.consumed() - whole.size(), seed});
      std::uint32_t seen = tested.seen;
      block kept = part.first(tested.kept);
      *ended = tested.kept != seen;
      in.hold_from(in.consumed() - (whole.size() - seen));  // a resume reads the rest of this view again
      if (kept) co_yield kept;
      if (!tested.why.ok()) {
        auto settled = gate.settle(out, tested.why, in.consumed() - whole.size() + seen);
        co_await settled;
        in.hold_from(in.consumed() - (whole.size() - ++seen));
      }
      if (seen == whole.size()) break;
      b = tail_of(whole, seen);
    }
  }
}

erased_stream open_take_while(const node& n, open_context& context) {
  outlet out(*n.type);
  auto& a = n.as<take_while_arguments>();
  const function_ptr& function = a.function.value;
  std::uint64_t seed = function->draws ? context.seed_of(n, a.options.seed.value) : 0;
  error_gate gate = context.gate(n);
  saved<bool> ended;
  erased_stream in = context.open(n.inputs[0]);
  if (gate.skips())
    return take_while_tolerant_loop(out, std::move(ended), std::move(in), function, seed, std::move(gate));
  return take_while_loop(out, std::move(ended), std::move(in), function, seed, std::move(gate));
}

}  // namespace

const op_info take_while_op{
    .name = "take_while",
    .doc = "the elements before the first for which a predicate is false",
    .arguments = arguments_of<take_while_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<take_while_arguments>().function.value, why); },
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false},
              .members = member_use::passed},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_take_while},
};

}  // namespace sluice::lib
