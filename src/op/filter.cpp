// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/filter.hpp"

#include <algorithm>

#include "element/batches/blocks.hpp"
#include "engine/held/kept_texts.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/fused_stage.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {
namespace {

// Works in place: kept elements move to the front of the view, which is passed on. Skipped elements are tested too,
// because only a test shows which elements exist.
erased_stream filter_loop(outlet out, erased_stream in, function_ptr function, std::uint64_t seed, error_gate gate) {
  auto& keep = static_cast<const predicate_function&>(*function);
  for (;;) {
    while (auto b = co_await in.next_block({0, out.ask(), out.wanted_bytes()})) {
      predicate_function::outcome k = keep.keep(b, {in.consumed() - b.size(), seed});
      block kept = b.first(k.kept);
      if (!k.why.ok()) {
        out.hold(kept);
        status why = gate.located(k.why, in.consumed() - b.size() + k.seen);
        co_await fail(std::move(why));
      }
      if (kept) co_yield kept;
    }
    if (keep.draws) break;
    auto over = out.again();
    co_await over;
  }
}

/// The loop of a stage that drops bad elements: the next demand tests the rest of their view.
erased_stream filter_tolerant_loop(outlet out, erased_stream in, function_ptr function, std::uint64_t seed,
                                   error_gate gate) {
  auto& keep = static_cast<const predicate_function&>(*function);
  in.may_go_back();
  kept_texts texts(gate, in.type());
  while (auto b = co_await in.next_block({0, out.ask(), out.wanted_bytes()})) {
    texts.note(b);
    std::uint32_t looked_at = 0;  // the index in `texts` of the next input
    while (b) {
      // The rest of the view after a bad element serves another demand, which may be smaller than the first.
      block whole = b, part = b.first(std::min(b.size(), out.ask()));
      predicate_function::outcome k = keep.keep(part, {in.consumed() - whole.size(), seed});
      block kept = part.first(k.kept);
      std::uint32_t seen = k.seen;
      in.hold_from(in.consumed() - (whole.size() - seen));  // a resume reads the rest of this view again
      if (kept) co_yield kept;
      if (!k.why.ok()) {
        auto settled = gate.settle(out, k.why, in.consumed() - whole.size() + seen, texts.of(looked_at + seen));
        co_await settled;
        in.hold_from(in.consumed() - (whole.size() - ++seen));
      }
      if (seen == whole.size()) break;
      looked_at += seen;
      b = tail_of(whole, seen);
    }
  }
}

erased_stream open_filter(const node& n, open_context& context) {
  outlet out(*n.type);
  auto& a = n.as<filter_arguments>();
  const function_ptr& function = a.function.value;
  std::uint64_t seed = function->draws ? context.seed_of(n, a.options.seed.value) : 0;
  error_gate gate = context.gate(n);
  erased_stream in = context.open(n.inputs[0]);
  if (gate.skips()) return filter_tolerant_loop(out, std::move(in), function, seed, std::move(gate));
  return filter_loop(out, std::move(in), function, seed, std::move(gate));
}

}  // namespace

const op_info filter_op{
    .name = "filter",
    .doc = "the elements for which a predicate is true",
    .arguments = arguments_of<filter_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<filter_arguments>().function.value, why); },
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::at_most_one_per_input,
                         .forwards = true,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false}},
    .lowering = {.open = open_filter,
                 .work =
                     [](const node& n) {
                       auto& a = n.as<filter_arguments>();
                       return node_work{a.function.value, true, false, order::deterministic, a.options.seed.value};
                     }},
};

}  // namespace sluice::lib
