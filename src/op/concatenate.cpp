// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/concatenate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/inner_input.hpp"
#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// Which input, and where in it. Inputs are opened when those before have ended: before and behind it they hold nothing.
struct concatenate_state {
  std::uint64_t at = 0;
  inner_input input;

  void save(position_writer& w) {
    w.number(at);
    input.save(w);
  }
  void load(position_reader& r) {
    at = r.number();
    input.load(r);
  }
  bool may_wait() const { return input.may_wait(); }
};

erased_stream concatenate_loop(outlet out, saved<concatenate_state> st, node combine, open_context context) {
  if (st->at > combine.inputs.size()) co_await fail(damaged_position());  // a forged one; equal: it has ended
  for (; st->at < combine.inputs.size(); ++st->at) {
    open_context inner = context.in_input(combine, st->at);
    status why = st->input.open(inner, combine.inputs[st->at]);
    if (!why.ok()) co_await fail(std::move(why));
    erased_stream& in = st->input.in;
    for (;;) {
      std::uint64_t passed = out.pass(demand::kAll);
      auto b = co_await in.next_block({passed, out.wanted(), out.wanted_bytes()});
      if (!b) {
        if (passed) out.unpass(std::min(in.skip_left(), passed));
        break;
      }
      co_yield b;
    }
    in.close();
  }
}

erased_stream open_concatenate(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<concatenate_state> st;
  node combine = n;
  return concatenate_loop(out, std::move(st), std::move(combine), context);
}

}  // namespace

const op_info concatenate_op{
    .name = "concatenate",
    .doc = "all elements of the first input, then all of the next",
    .shape = op_info::combine,
    .type = [](const node& n, std::string& why) { return type_of_inputs(n, n.inputs.size(), why); },
    .open = open_concatenate,
    .size =
        [](const node& n) {
          cardinality all = cardinality::of(0);
          for (const node_ptr& input : n.inputs) all = all.and_then(cardinality_of(*input));
          return all;
        },
};

}  // namespace sluice::lib
