// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/filter.hpp"

#include "op/engine.hpp"

namespace sluice {
namespace {

// In place: what is kept moves to the front of the view, which is passed on. Elements to be passed over are computed:
// nobody else knows which there are.
erased_stream filter_stage(outlet out, erased_stream in, function_ptr function, error_gate gate) {
  auto& keep = static_cast<const predicate_function&>(*function);
  if (gate.skips()) in.may_go_back();
  while (auto b = co_await in.next_block({0, out.ask(), out.wanted_bytes()})) {
    while (b) {
      predicate_function::outcome k = keep.keep(b);
      if (k.why.ok()) {
        if (gate.skips()) in.hold_nothing();
        if (k.kept) co_yield b.first(k.kept);
        break;
      }
      status why = gate.refuse(std::move(k.why));
      block kept = b.first(k.kept);
      if (!why.ok()) {
        out.hold(kept);
        co_await fail(std::move(why));
      }
      block whole = b;
      in.hold_from(in.consumed() - (b.size() - k.seen - 1));   // a resume makes the rest of this view again
      if (k.kept) co_yield kept;
      b = tail_of(whole, k.seen + 1);
    }
  }
}

erased_stream open_filter(const node& n, open_context& context) {
  outlet out(*n.type);
  return filter_stage(out, context.open(n.inputs[0]), n.function, context.gate(n));
}

}  // namespace

extern const op_info filter_op{
    .name = "filter",
    .doc = "the elements a predicate keeps",
    .accepts = is_a<predicate_function>,
    .type = type_of_function,
    .open = open_filter,
};

}  // namespace sluice
