// SPDX-License-Identifier: Apache-2.0
#include "engine/inner/cycle.hpp"

namespace sluice::lib {

task<void> reopen(cycle& c, erased_stream& outer, const inner_plans& inners, std::size_t width, std::uint64_t run) {
  if (!c.fits(width, run)) co_await fail(damaged_position());
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
    auto opened = inners.open(b.view, s->ordinal, c.openings, std::exchange(s->restored, {}));
    if (!opened.ok()) co_await fail(opened.why());
    c.open(*s, *std::move(opened), s->ordinal);
  }
  if (c.taken < outer.consumed()) co_await fail(damaged_position());
  outer.pass_over(c.taken - outer.consumed());
}

void take_outer(cycle& c, erased_stream& outer, const inner_plans& inners, erased_stream::attempt& b) {
  if (!b.view) {
    c.outer_over = true;
    c.outer_why = std::move(b.why);
    return;
  }
  opening_log::place before = c.openings.here();
  auto opened = inners.open(b.view, outer.consumed() - 1, c.openings);
  c.opened_ahead.emplace_back(std::move(opened), outer.consumed() - 1, c.take_outer_missed(), std::move(before));
}

task<void> open_ahead(cycle& c, erased_stream& outer, const inner_plans& inners) {
  while (c.wants_ahead() && !outer.may_wait()) {
    auto b = co_await outer.try_next_block({0, 1});
    take_outer(c, outer, inners, b);
    if (c.outer_over) break;
    if (c.opened_ahead.back().inner.ok()) c.opened_ahead.back().inner->ahead->start();
  }
}

task<void> wait_opening_ahead(cycle& c, erased_stream& outer, const inner_plans& inners) {
  while (c.wants_ahead()) {
    std::uint64_t seen = inners.signal().count();
    auto opening = open_ahead(c, outer, inners);
    co_await opening;
    if (!c.current().in.may_wait()) break;
    if (c.current().ahead) c.current().ahead->urge();
    co_await inners.signal().changed_since(seen);
  }
}

}  // namespace sluice::lib
