// SPDX-License-Identifier: Apache-2.0
#include "engine/inner/interleave_loop.hpp"

#include <algorithm>

#include "sluice/coro/detail/block_fit.hpp"

namespace sluice::lib {
namespace {

/// A block of more bytes would leave the core's cache before its elements are used: 22 batches of 64 KiB cost their
/// consumer half as much again as two at a time.
constexpr std::uint32_t kGatheredBytes = 256u << 10;

/// The block that collects elements of several inputs.
class gathered_block {
 public:
  explicit gathered_block(outlet& out) : out_(out), fit_(out.type()), size_(out.type().size) { begin(); }

  void begin() {
    have_ = 0;
    wanted_ = fit_.at_most(out_.wanted());
    to_ = out_.room(wanted_);
  }
  std::uint32_t size() const { return have_; }
  std::uint32_t missing() const { return wanted_ - have_; }
  /// Returns true if the block must be delivered now. Elements that are ready do not wait for others.
  bool is_due(bool must_wait) const { return have_ && (have_ >= wanted_ || must_wait || out_.must_yield()); }
  /// Moves elements that are ready to the block.
  void gather(cycle& c, std::uint64_t run) {
    have_ = c.gather(to_, have_, wanted_, run, size_);
    out_.hold(out_.made(have_));
  }
  block finish() {
    block made = out_.made(have_);
    fit_.made(made, std::min(out_.wanted_bytes(), kGatheredBytes));
    return made;
  }
  /// Returns the number of elements to request from the current input. It depends on what is missing, and not only on
  /// the length of the visit, so that sixteen inputs with one element a visit still form blocks.
  std::uint32_t share(std::uint64_t left_in_visit, std::size_t width) const {
    const std::uint64_t m = missing();
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(std::min(left_in_visit, m), m / width));
  }

 private:
  outlet& out_;
  block_fit fit_;
  std::size_t size_;
  std::uint32_t wanted_ = 0, have_ = 0;
  char* to_ = nullptr;
};

}  // namespace

erased_stream interleave_loop(outlet out, saved<cycle> c, erased_stream outer, inner_plans inners, std::uint32_t width,
                              std::uint64_t run) {
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
  gathered_block gathered(out);
  for (;;) {
    cycle::slot& s = c->current();
    if (inners.parallel() && c->wants_ahead() && !outer.may_wait()) {
      auto opening = open_ahead(*c, outer, inners);
      co_await opening;
    }
    // Elements that are ready are delivered before anything that may wait, and before an outer element is requested.
    const bool must_wait = s.open ? s.in.may_wait() : c->needs_outer() && outer.may_wait();
    if (gathered.is_due(must_wait)) {
      outer.hold_from(c->oldest(c->taken));
      block made = gathered.finish();
      co_yield made;
      gathered.begin();
    }
    if (!s.open) {  // the next outer element is opened in the slot
      if (c->outer_ended) {
        if (c->idle()) break;
        c->advance(run);
        continue;
      }
      outer.hold_from(c->oldest(c->taken));
      if (c->needs_outer()) {
        auto b = co_await outer.try_next_block({0, 1});
        take_outer(*c, outer, inners, b);
      }
      if (c->opened_ahead.empty()) {
        auto counting = out.drop(c->take_outer_missed());
        co_await counting;
        if (!c->outer_why.ok()) co_await fail(c->outer_why);
        c->end_outer(outer.consumed());
        continue;
      }
      cycle::replacement next = c->take_replacement();
      auto counting = out.drop(std::move(next.missed));
      co_await counting;
      if (!next.inner.ok()) {  // the slot stays empty
        auto settled = inners.gate().settle(out, next.inner.why(), next.ordinal);
        co_await settled;
        continue;
      }
      c->open(s, *std::move(next.inner), next.ordinal);
      outer.hold_from(c->oldest(c->taken));
      continue;  // elements that are ready do not wait for the new stream's first one either
    }
    if (s.in.left() == 0) {
      if (inners.parallel() && c->wants_ahead() && s.in.may_wait()) {
        auto waiting = wait_opening_ahead(*c, outer, inners);
        co_await waiting;
      }
      const std::uint64_t passed = gathered.size() ? 0 : out.pass(c->left - 1);
      bool more = co_await s.in.ready({passed, gathered.share(c->left - passed, width)});
      if (!more) {
        if (passed) out.unpass(s.in.skip_left());
        c->close(s);
        c->advance(run);
        continue;
      }
      if (run != kToTheEnd) c->left -= passed;
      if (gathered.size() && out.must_yield()) continue;
    }
    gathered.gather(*c, run);
  }
  outer.hold_from(outer.consumed());
  if (gathered.size()) co_yield out.made(gathered.size());
}

}  // namespace sluice::lib
