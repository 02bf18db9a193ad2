// SPDX-License-Identifier: Apache-2.0
#include "engine/interleave_loop.hpp"

#include "sluice/coro/block_fit.hpp"

#include <algorithm>

namespace sluice::lib {

erased_stream interleave_loop(outlet out, saved<cycle> c, erased_stream outer, inner_plans inners, std::uint32_t width,
                              std::uint64_t run) {
  const std::size_t size = out.type().size;
  outer.hold_from(c->oldest(c->taken));
  if (inners.parallel()) c->collect_errors_of(outer, inners.run());
  if (c->restored()) {
    auto opening = reopen(*c, outer, inners, width, run);
    co_await opening;
    auto counting = out.drop(c->take_outer_missed());
    co_await counting;
  } else {
    c->start(width, run);
  }
  block_fit fit(out.type());
  std::uint32_t wanted = fit.at_most(out.wanted()), have = 0;
  char* to = out.room(wanted);
  for (;;) {
    cycle::slot& s = c->current();
    if (inners.parallel() && c->wants_ahead() && !outer.may_wait()) {
      auto opening = open_ahead(*c, outer, inners);
      co_await opening;
    }
    // Elements that are ready go out before any step that may have to wait, and before an outer element is requested.
    bool outer_needed = c->opened_ahead.empty() && !c->outer_over && !c->outer_ended;
    bool must_wait = s.open ? s.in.may_wait() : outer_needed && outer.may_wait();
    if (have && (have >= wanted || must_wait || out.must_yield())) {
      outer.hold_from(c->oldest(c->taken));
      block made = out.made(have);
      fit.made(made, out.wanted_bytes());
      co_yield made;
      have = 0;
      wanted = fit.at_most(out.wanted());
      to = out.room(wanted);
    }
    if (!s.open) {
      if (c->outer_ended) {
        if (c->idle()) break;
        c->advance(run);
        continue;
      }
      outer.hold_from(c->oldest(c->taken));
      if (outer_needed) {
        auto b = co_await outer.try_next_block({0, 1});
        if (b.view) {
          opening_log::place before = c->openings.here();
          auto opened = inners.open(b.view, outer.consumed() - 1, c->openings);
          c->opened_ahead.push_back(
              {std::move(opened), outer.consumed() - 1, c->take_outer_missed(), std::move(before)});
        } else {
          c->outer_over = true;
          c->outer_why = std::move(b.why);
        }
      }
      if (c->opened_ahead.empty()) {
        auto counting = out.drop(c->take_outer_missed());
        co_await counting;
        if (!c->outer_why.ok()) co_await fail(c->outer_why);
        c->outer_ended = true;
        c->taken = outer.consumed();
        continue;
      }
      cycle::replacement next = std::move(c->opened_ahead.front());
      c->opened_ahead.pop_front();
      c->taken = next.ordinal + 1;
      auto counting = out.drop(std::move(next.missed));
      co_await counting;
      if (!next.inner.ok()) {
        auto settled = inners.gate().settle(out, next.inner.why(), next.ordinal);
        co_await settled;
        continue;  // the slot stays empty; the next outer element is opened in it
      }
      c->open(s, *std::move(next.inner), next.ordinal);
      outer.hold_from(c->oldest(c->taken));
      continue;  // what is ready does not wait for the new stream's first element either
    }
    if (s.in.left() == 0) {
      if (inners.parallel() && c->wants_ahead() && s.in.may_wait()) {
        auto waiting = wait_opening_ahead(*c, outer, inners);
        co_await waiting;
      }
      std::uint64_t passed = have ? 0 : out.pass(c->left - 1);
      // A share of what is wanted, not the visit's length: sixteen inputs of one element a visit still make blocks.
      const std::uint64_t missing = wanted - have;
      const std::uint64_t share = std::max<std::uint64_t>(std::min(c->left - passed, missing), missing / width);
      bool more = co_await s.in.ready({passed, static_cast<std::uint32_t>(share)});
      if (!more) {
        if (passed) out.unpass(s.in.skip_left());
        c->close(s);
        c->advance(run);
        continue;
      }
      if (run != kToTheEnd) c->left -= passed;
      if (have && out.must_yield()) continue;
    }
    have = c->gather(to, have, wanted, run, size);
    out.hold(out.made(have));
  }
  outer.hold_from(outer.consumed());
  if (have) co_yield out.made(have);
}

}  // namespace sluice::lib
