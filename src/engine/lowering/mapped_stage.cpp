// SPDX-License-Identifier: Apache-2.0
#include "engine/lowering/mapped_stage.hpp"

#include <algorithm>
#include <cstring>

#include "ahead/open_channel.hpp"
#include "element/batches/blocks.hpp"
#include "engine/held/kept_texts.hpp"
#include "engine/lowering/slot_errors.hpp"
#include "engine/lowering/types.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

namespace {

bool keeps_size(const block_function& f) { return dynamic_cast<const size_keeping_function*>(&f) != nullptr; }

/// Returns the outputs for `in`, up to the first input whose call fails with `why`. `at`: the place of the first input.
block map_block(outlet& out, block in, const block_function& f, element_place at, const error_gate& gate, status& why) {
  void* to = f.in_place ? in.data() : out.room(in.size());
  applied a = f.apply(in, to, at);
  if (!a.why.ok()) why = gate.located(a.why, at.ordinal + a.done);
  return f.in_place ? in.first(a.done) : out.made(a.done);
}

/// Calls the function on demand, a block at a time. Skipped elements are not computed, because the request carries the
/// skip to the source.
erased_stream map_loop(outlet out, one_to_one, erased_stream in, function_ptr function, std::uint64_t seed,
                       error_gate gate) {
  auto& f = static_cast<const block_function&>(*function);
  block_fit fit(out.type(), !keeps_size(f));
  for (;;) {
    while (auto b = co_await in.next_block({0, fit.at_most(out.wanted()), out.wanted_bytes()})) {
      status why;
      block made = map_block(out, b, f, {in.consumed() - b.size(), seed}, gate, why);
      if (!why.ok()) {
        out.hold(made);
        co_await fail(std::move(why));
      }
      fit.made(made, out.wanted_bytes());
      co_yield made;
    }
    if (f.draws) break;
    auto over = out.again();
    co_await over;
  }
}

/// The loop of a stage that drops bad elements: the next demand computes the rest of their view.
erased_stream map_tolerant_loop(outlet out, erased_stream in, function_ptr function, std::uint64_t seed,
                                error_gate gate) {
  auto& f = static_cast<const block_function&>(*function);
  in.may_go_back();
  block_fit fit(out.type(), !keeps_size(f));
  kept_texts texts(gate, in.type());
  while (auto b = co_await in.next_block({0, fit.at_most(out.ask()), out.wanted_bytes()})) {
    texts.note(b);
    std::uint32_t looked_at = 0;  // the index in `texts` of the next input
    while (b) {
      // The rest of the view after a bad element serves another demand, which may be smaller than the first.
      block whole = b, part = b.first(fit.at_most(std::min(b.size(), out.ask())));
      void* to = f.in_place ? part.data() : out.room(part.size());
      applied a = f.apply(part, to, {in.consumed() - whole.size(), seed});
      block made = f.in_place ? part.first(a.done) : out.made(a.done);
      std::uint32_t seen = a.done;
      fit.made(made, out.wanted_bytes());
      in.hold_from(in.consumed() - (whole.size() - seen));  // a resume reads the rest of this view again
      if (made) co_yield made;
      if (!a.why.ok()) {
        auto settled = gate.settle(out, a.why, in.consumed() - whole.size() + seen, texts.of(looked_at + seen));
        co_await settled;
        in.hold_from(in.consumed() - (whole.size() - ++seen));
      }
      if (seen == whole.size()) break;
      looked_at += seen;
      b = tail_of(whole, seen);
    }
  }
}

/// Awaits one call after another.
erased_stream map_awaiting_loop(outlet out, one_to_one, may_suspend, erased_stream in, function_ptr function,
                                std::uint64_t seed, error_gate gate) {
  auto& f = static_cast<const async_function&>(*function);
  kept_texts texts(gate, in.type());
  while (auto b = co_await in.next_block({0, 1, out.wanted_bytes()})) {
    char* to = out.room(1);
    texts.note(b);
    auto call = f.start(b.data(), to, {in.consumed() - 1, seed});
    status why = co_await call.as_result();
    if (why.ok()) {
      co_yield out.made(1);
      continue;
    }
    auto settled = gate.settle(out, why, in.consumed() - 1, texts.of(0));
    co_await settled;
  }
}

/// The computation of parallel calls on a slot: the loops above, with the slot's slabs.
class map_computation final : public slot_computation {
 public:
  map_computation(function_ptr f, std::uint64_t seed, error_gate gate, bool awaits)
      : function_(std::move(f)), seed_(seed), gate_(std::move(gate)), awaits_(awaits) {}
  bool awaits() const override { return awaits_; }
  std::uint32_t most_here() const override {
    return !awaits_ && keeps_size(static_cast<const block_function&>(*function_)) ? ~std::uint32_t{0} : 0;
  }

  task<void> compute(slot_supply& ring, ring_slot* slot) const override {
    if (awaits_) return await_one(slot, static_cast<const async_function&>(*function_), seed_, gate_);
    return compute_block(ring, slot, static_cast<const block_function&>(*function_), seed_, gate_);
  }
  block compute_here(outlet& out, block inputs, std::uint64_t first, status& why) const override {
    return map_block(out, inputs, static_cast<const block_function&>(*function_), {first, seed_}, gate_, why);
  }

 private:
  static task<void> await_one(ring_slot* slot, const async_function& f, std::uint64_t seed, const error_gate& gate) {
    char* to = slot->output.reserve(1);
    kept_texts texts(gate, slot->input.type());
    texts.note(slot->input.begin(), 1);
    auto call = f.start(slot->input.begin(), to, {slot->first, seed});
    status why = co_await call.as_result();
    if (why.ok()) slot->output.set_live(0, 1);
    else drop_or_fail(slot, 0, why, gate, texts.of(0));
  }
  static task<void> compute_block(slot_supply& ring, ring_slot* slot, const block_function& f, std::uint64_t seed,
                                  const error_gate& gate) {
    std::uint32_t done = 0;
    char* to = slot->output.reserve(slot->count);
    block in = slot->input.view();
    const element_type& out = slot->output.type();
    // The size of an output is unknown before the call.
    const bool sized = owns_bytes(out) && !f.in_place && !keeps_size(f);
    std::size_t made_bytes = payload_bytes(slot->input);
    kept_texts texts(gate, in.type());
    texts.note(slot->input.begin() + slot->input_at * in.type().size, slot->count);
    for (std::uint32_t seen = 0; seen < slot->count;) {
      char* from = slot->input.begin() + (slot->input_at + seen) * in.type().size;
      std::uint32_t n = slot->count - seen;
      if (sized) n = std::min(n, ring.memory().elements_at_once(in.type(), out));
      block rest(&slot->input, &in.type(), from, n);
      if (f.in_place) std::memcpy(to, from, rest.size() * in.type().size);
      block work = f.in_place ? block(&slot->output, &in.type(), to, rest.size()) : rest;
      applied a = f.apply(work, to, {slot->first + seen, seed});
      if (sized) made_bytes += a.done * out.size + out.footprint(out, to, a.done);
      done += a.done;
      slot->output.set_live(0, done);
      to += a.done * out.size;
      seen += a.done;
      if (!a.why.ok()) {
        if (!drop_or_fail(slot, seen, a.why, gate, texts.of(seen))) break;
        ++seen;
      }
      if (sized && done && seen < slot->count && !ring.has_room(slot, made_bytes, made_bytes / done)) {
        ring.cut_short(slot, seen);
        break;
      }
    }
    co_return;
  }

  function_ptr function_;
  std::uint64_t seed_;
  error_gate gate_;
  bool awaits_;
};

}  // namespace

erased_stream open_mapped(const node& n, open_context& context, const function_ptr& f, const map_options& o) {
  return open_mapped(n, context, f, o.parallelism, o.order, o.seed);
}

erased_stream open_mapped(const node& n, open_context& context, const function_ptr& f, const knob& parallelism,
                          order own, seed drawn_by) {
  const order delivered = context.order_of(own);
  bool awaits = dynamic_cast<const async_function*>(f.get()) != nullptr;
  SLUICE_REQUIRES(awaits || dynamic_cast<const block_function*>(f.get()), "the function maps no elements");
  error_gate gate = context.gate(n);
  bool skips = gate.skips();
  erased_stream in = context.open(n.inputs[0]);
  outlet out(*n.type);
  const std::uint64_t drawn = f->draws ? context.seed_of(n, drawn_by.value) : 0;
  one_to_one counts{!skips};
  if (context.on_demand || is_on_demand(parallelism, delivered)) {
    if (awaits) return map_awaiting_loop(out, counts, may_suspend{}, std::move(in), f, drawn, std::move(gate));
    if (skips) return map_tolerant_loop(out, std::move(in), f, drawn, std::move(gate));
    return map_loop(out, counts, std::move(in), f, drawn, std::move(gate));
  }
  channel_memory memory = context.memory_of(n, gate.label());
  if (awaits) memory.expect_largest();
  channel_options options;
  options.follows = {&context.live(n, parallelism, context.tuned_parallelism()),
                     [](std::int64_t most) { return slot_supply::limits{static_cast<std::uint32_t>(most)}; }};
  options.order = delivered;
  options.pump.may_drop = skips;
  options.direct_where_light = !skips && !awaits && delivered == order::deterministic;
  options.pump.computation = std::make_shared<map_computation>(f, drawn, std::move(gate), awaits);
  return open_channel(std::move(memory), std::move(in), *n.type, std::move(options)).out;
}

}  // namespace sluice::lib
