// SPDX-License-Identifier: Apache-2.0
#include "engine/inner/concatenation.hpp"

#include <algorithm>
#include <utility>

namespace sluice::lib {

erased_stream concatenation_loop(outlet out, saved<concatenation_state> st, node combine, open_context context,
                                 std::vector<std::uint64_t> limits) {
  // Inputs that drop bad elements may deliver fewer than their limits. They are read in order to skip them.
  const bool have_their_limits = context.on_error != error_policy::skip;
  // a forged position; equal: the stream has ended
  if (st->at > combine.inputs.size()) co_await fail(damaged_position());
  for (; st->at < combine.inputs.size(); ++st->at) {
    open_context inner = context.in_input(combine, st->at);
    status why = st->input.open(inner, combine.inputs[st->at], st->at);
    if (!why.ok()) co_await fail(std::move(why));
    erased_stream& in = st->input.in;
    for (;;) {
      const std::uint64_t most = limits.empty() ? demand::kAll : limits[st->at];
      const std::uint64_t left = limits.empty() ? most : most - std::min(most, in.consumed());
      if (left == 0) break;
      const std::uint64_t passed = out.pass(limits.empty() || have_their_limits ? left : left - 1);
      if (!limits.empty() && passed == left) break;
      auto b = co_await in.next_block({passed, out.wanted_of(left - passed), out.wanted_bytes()});
      if (!b) {
        if (passed) out.unpass(std::min(in.skip_left(), passed));
        break;
      }
      co_yield b;
    }
    in.close();
  }
}

}  // namespace sluice::lib
