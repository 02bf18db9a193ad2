// SPDX-License-Identifier: Apache-2.0
#include "ahead/pump.hpp"

#include "runtime/run_task.hpp"
#include "sluice/coro/resume_on.hpp"

namespace sluice::lib {
namespace {

/// The inputs are there, the outputs are not: what was reserved for both stays charged.
void charge_inputs(block_ring& ring, ring_slot* slot, bool computed) {
  std::size_t payload = payload_bytes(slot->input), bytes = payload + room_bytes(slot->input);
  if (computed && bytes <= slot->charged_bytes) return;
  if (!computed) ring.memory().estimate().learn(payload, slot->count);
  ring.charge(slot, bytes);
}

/// The inputs are gone, and the outputs are what the slot holds now. Both were there at once: so much the next will take.
void charge_outputs(block_ring& ring, ring_slot* slot) {
  std::size_t outputs = payload_bytes(slot->output), inputs = payload_bytes(slot->input);
  ring.memory().estimate().learn(outputs + inputs / slot->input.size() * slot->count, slot->count);
  if (slot->rest) return ring.charge(slot, outputs + room_bytes(slot->output) + inputs);
  drop_large_room(slot->input);
  ring.charge(slot, outputs + room_bytes(slot->output) + room_bytes(slot->input));
}

run_task compute_slot(std::shared_ptr<run_context>& run, std::shared_ptr<block_ring> shared_ring, ring_slot* slot) {
  auto ring = std::move(shared_ring);
  auto computation = ring->computation();
  clock* time = run->time;
  co_await yield_now();  // oldest first: the consumer waits for that one
  auto began = time->now();
  auto work = computation->compute(*ring, slot);
  status why = co_await work.as_result();
  if (!why.ok()) slot->why = std::move(why);
  charge_outputs(*ring, slot);
  if (!computation->awaits()) ring->made_in(time->now() - began, slot->count, slot->charged_bytes);
  ring->commit(slot, true);
}

/// How far the pump may go in one slot without mixing what was delivered, what will be replayed and the rest.
struct reach {
  std::uint64_t skip = 0;
  std::uint64_t elements = ~std::uint64_t{0};
};
reach reach_from(std::uint64_t at, const pump_options& o) {
  reach r;
  for (bool again = true; again;) {
    again = false;
    for (auto [first, count] : o.done)
      if (at + r.skip >= first && at + r.skip < first + count) {
        r.skip = first + count - at;
        again = true;
      }
  }
  at += r.skip;
  for (auto [first, count] : o.done)
    if (first > at) r.elements = std::min(r.elements, first - at);
  for (auto [first, count] : o.replayed) {
    if (first > at) r.elements = std::min(r.elements, first - at);
    else if (at < first + count) r.elements = std::min(r.elements, first + count - at);
  }
  return r;
}

/// One slot's worth of input. False: nothing more is to be pulled.
struct pulled {
  bool more = false;
  bool woke_reader = false;
};
task<pulled> pull_one(std::shared_ptr<block_ring>& shared_ring, erased_stream& in, const pump_options& options,
                      block_ring::reservation r, mark_watch& watch) {
  block_ring& ring = *shared_ring;
  run_context& run = *ring.run();
  pulled result;
  if (watch.due(run)) ring.note(r.slot, in.take_due_mark());
  reach limit = reach_from(in.consumed(), options);
  bool one_each = options.one_each || (options.computation && options.computation->awaits());
  demand d;
  d.skip = limit.skip;
  d.elements = one_each ? 1 : static_cast<std::uint32_t>(std::min<std::uint64_t>(r.elements, limit.elements));
  d.bytes = ring.memory().block_bytes();
  auto began = run.time->now();
  auto got = co_await in.try_next_block(d);
  if (!got.view) {
    ring.finish(r.slot, std::move(got.why), in.skip_left());
    co_return result;
  }
  std::uint32_t n = got.view.size();
  ring_slot* slot = r.slot;
  got.view.move_front(slot->input.reserve(n), n);
  slot->input.set_live(0, n);
  ring.filled(slot, in.consumed() - n, n);
  charge_inputs(ring, slot, options.computation != nullptr);
  result.more = true;
  if (options.computation) {
    start_computing(shared_ring, slot);
  } else {
    ring.made_in(run.time->now() - began, n, slot->charged_bytes);
    result.woke_reader = ring.commit(slot, false);
  }
  co_return result;
}

run_task pump(std::shared_ptr<run_context>& run, std::shared_ptr<block_ring> shared_ring, erased_stream input,
              pump_options pump_opts) {
  auto ring = std::move(shared_ring);
  auto in = std::move(input);
  auto options = std::move(pump_opts);
  co_await yield_now();
  mark_watch watch;
  for (bool more = true; more;) {
    auto r = co_await ring->reserve();
    if (!r.slot) break;
    if (options.permits) co_await options.permits->acquire();
    auto pulling = pull_one(ring, in, options, r, watch);
    result<pulled> got = co_await pulling.as_result();
    if (options.permits) options.permits->release();
    if (!got.ok()) {
      ring->finish(r.slot, got.why());
      break;
    }
    more = got->more;
    if (got->woke_reader) co_await yield_now();  // downstream first: this worker goes on with the consumer, cache-hot
  }
}

}  // namespace

void start_computing(std::shared_ptr<block_ring> ring, ring_slot* slot) {
  std::shared_ptr<run_context> run = ring->run();
  compute_slot(run, std::move(ring), slot);
}

void start_pump(std::shared_ptr<block_ring> ring, erased_stream in, pump_options options) {
  std::shared_ptr<run_context> run = ring->run();
  in.set_environment(run.get());
  ring->set_computation(options.computation);
  pump(run, std::move(ring), std::move(in), std::move(options));
}

}  // namespace sluice::lib
