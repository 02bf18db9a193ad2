// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/interleave.hpp"
#include "engine/types.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/saved.hpp"

#include "op/interleave/cycle.hpp"
#include "op/interleave/sloppy_interleave.hpp"

namespace sluice::lib {

namespace {

erased_stream interleave_stage(outlet out, saved<cycle> c, erased_stream outer, inner_plans inners, std::uint32_t width,
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
    // What is ready goes out before anything that may have to wait, and before an outer element is asked for.
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
          auto opened = inners.open(b.view, outer.consumed() - 1);
          c->opened_ahead.push_back({std::move(opened), outer.consumed() - 1, c->take_outer_missed()});
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
      std::uint64_t share =
          std::max<std::uint64_t>(std::min<std::uint64_t>(c->left - passed, wanted), (wanted - have) / width);
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

/// The outer elements of a parallel interleave, read ahead by one, so that the stage can tell whether it would have to
/// wait for the next and go on with what is open meanwhile.
erased_stream read_outer_ahead(const node& n, const open_context& context, erased_stream outer,
                               const inner_plans& inners) {
  const element_type& type = outer.type();
  auto link = std::make_shared<reader_link>(context.run, context.memory_of(n, "interleave's inputs"), std::move(outer),
                                            type, slot_supply::limits{1, 1}, pump_options());
  link->set_signal(inners.shared_signal());
  outlet out(type);
  erased_stream ahead = read_ahead(out, std::move(link));
  ahead.set_environment(context.run.get());
  return ahead;
}

erased_stream open_interleave(const node& n, open_context& context) {
  auto& [inner, o] = n.as<interleave_arguments>();
  outlet out(*n.type);
  auto width = static_cast<std::uint32_t>(o.cycle_length.value);
  // At 1, or with one input at a time, there is nothing to work on ahead of the consumer.
  bool parallel = o.parallelism.value != 1 && width > 1;
  inner_plans inners(n, inner, context, parallel ? &context.parallelism_of(n, o.parallelism) : nullptr);
  erased_stream outer = context.open(n.inputs[0]);
  if (inners.parallel() && o.order == order::deterministic)
    outer = read_outer_ahead(n, context, std::move(outer), inners);
  if (o.order == order::sloppy) return sloppy_interleave(out, std::move(outer), std::move(inners), width);
  saved<cycle> c;
  return interleave_stage(out, std::move(c), std::move(outer), std::move(inners), width,
                          static_cast<std::uint64_t>(o.block_length.value));
}

const element_type* interleaved_type(const node& n, std::string& why) {
  auto& [inner, o] = n.as<interleave_arguments>();
  auto width = o.cycle_length.value;
  if (!is_parallelism(o.parallelism, why)) return nullptr;
  if (width <= cycle::kSlotsMax) return type_of_inner(n, inner, why);
  why = "cycle_length must be at most " + std::to_string(cycle::kSlotsMax) + ", and is " + std::to_string(width);
  return nullptr;
}

erased_stream open_flat_map(const node& n, open_context& context) {
  outlet out(*n.type);
  inner_plans inners(n, n.as<flat_map_arguments>().inner, context, nullptr);
  erased_stream outer = context.open(n.inputs[0]);
  saved<cycle> c;
  return interleave_stage(out, std::move(c), std::move(outer), std::move(inners), 1, kToTheEnd);
}

}  // namespace

extern const op_info interleave_op{
    .name = "interleave",
    .doc = "several elements' datasets at once, by turns",
    .arguments = arguments_of<interleave_arguments>,
    .type = interleaved_type,
    .open = open_interleave,
};

extern const op_info flat_map_op{
    .name = "flat_map",
    .doc = "each element becomes a dataset; their elements follow each other",
    .arguments = arguments_of<flat_map_arguments>,
    .type = [](const node& n, std::string& why) { return type_of_inner(n, n.as<flat_map_arguments>().inner, why); },
    .open = open_flat_map,
};

}  // namespace sluice::lib
