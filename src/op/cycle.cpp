// SPDX-License-Identifier: Apache-2.0
#include "op/cycle.hpp"

namespace sluice {

task<void> reopen(cycle& c, erased_stream& outer, const inner_plans& inners) {
  for (;;) {
    cycle::slot* s = c.oldest_unopened();
    if (!s) break;
    if (s->ordinal < outer.consumed()) co_await fail(damaged_position());
    outer.pass_over(s->ordinal - outer.consumed());
    auto b = co_await outer.try_next_block({0, 1});
    if (!b.view) {
      status why = damaged_position();
      if (!b.why.ok()) why = std::move(b.why);
      co_await fail(std::move(why));
    }
    auto opened = inners.open(b.view);
    if (!opened.ok()) co_await fail(opened.why());
    inner_stream inner = *std::move(opened);
    status fits = restore_inner(inner.in, s->restored);
    if (!fits.ok()) co_await fail(std::move(fits));
    c.open(*s, std::move(inner), s->ordinal);
  }
  if (c.taken < outer.consumed()) co_await fail(damaged_position());
  outer.pass_over(c.taken - outer.consumed());
}

}  // namespace sluice
