// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/concatenate.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "coro/inner_position.hpp"
#include "engine/open_context.hpp"
#include "engine/types.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// Which input, and where in it. Inputs are opened when their turn comes: before and behind it they hold nothing.
struct concatenate_state {
  std::uint64_t at = 0;
  erased_stream in;
  std::string restored;  ///< the input's position until it is opened

  void save(position_writer& w) {
    w.number(at);
    save_inner(w, in, restored);
  }
  void load(position_reader& r) {
    at = r.number();
    restored = r.text();
  }
  bool may_wait() const { return in && in.may_wait(); }
};

erased_stream concatenate_loop(outlet out, saved<concatenate_state> st, node combine, open_context context) {
  if (st->at > combine.inputs.size()) co_await fail(damaged_position());  // a forged one; equal: it has ended
  for (; st->at < combine.inputs.size(); ++st->at) {
    open_context inner = context.in_input(combine, st->at);
    auto opened = inner.resume(combine.inputs[st->at], std::exchange(st->restored, {}));
    if (!opened.ok()) co_await fail(opened.why());
    st->in = *std::move(opened);
    for (;;) {
      std::uint64_t passed = out.pass(demand::kAll);
      auto b = co_await st->in.next_block({passed, out.wanted(), out.wanted_bytes()});
      if (!b) {
        if (passed) out.unpass(std::min(st->in.skip_left(), passed));
        break;
      }
      co_yield b;
    }
    st->in.close();
  }
}

erased_stream open_concatenate(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<concatenate_state> st;
  node combine = n;
  return concatenate_loop(out, std::move(st), std::move(combine), context);
}

const element_type* concatenated_type(const node& n, std::string& why) {
  const element_type* type = n.inputs[0]->type;
  for (std::size_t i = 1; i != n.inputs.size(); ++i) {
    if (n.inputs[i]->type == type) continue;
    why = "the inputs have one type, and input " + std::to_string(i + 1) + " gives " + n.inputs[i]->type->name +
          " where the first gives " + type->name;
    return nullptr;
  }
  return type;
}

}  // namespace

const op_info concatenate_op{
    .name = "concatenate",
    .doc = "all elements of the first input, then all of the next",
    .shape = op_info::combine,
    .type = concatenated_type,
    .open = open_concatenate,
    .size =
        [](const node& n) {
          cardinality all = cardinality::of(0);
          for (const node_ptr& input : n.inputs) all = all.and_then(cardinality_of(*input));
          return all;
        },
};

}  // namespace sluice::lib
