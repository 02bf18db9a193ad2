// SPDX-License-Identifier: Apache-2.0
#include "ahead/pump.hpp"

#include <algorithm>

#include "ahead/collected_errors.hpp"
#include "runtime/run_task.hpp"
#include "sluice/coro/resume_on.hpp"

namespace sluice::lib {
namespace {

/// Returns the bytes charged for the errors in a slot; errors of one slot often share their message.
std::size_t error_bytes(ring_slot* slot) {
  return (slot->missed.size() + std::min(slot->dropped.size(), dropped_errors::kKeptApart)) * kErrorBytes;
}

/// Charges a slot with inputs and without outputs: the bytes that were reserved for both stay charged.
void charge_inputs(slot_supply& ring, ring_slot* slot, bool computed) {
  std::size_t payload = payload_bytes(slot->input), bytes = payload + room_bytes(slot->input) + error_bytes(slot);
  slot->input_bytes = payload;
  if (computed && bytes <= slot->charged_bytes) return;
  if (!computed) ring.memory().estimate().learn(payload, slot->input.size());
  ring.charge(slot, bytes);
}

/// Charges a slot whose inputs are used up, and which contains only outputs. Inputs and outputs existed at the same
/// time, so the estimate for the next block includes both. Returns the memory of an output, or of its input if that is
/// larger.
std::size_t charge_outputs(slot_supply& ring, ring_slot* slot) {
  std::size_t outputs = payload_bytes(slot->output), inputs = payload_bytes(slot->input);
  ring.memory().estimate().learn(outputs + inputs / slot->input.size() * slot->count, slot->count);
  const std::size_t input = slot->input_bytes / slot->input.size();
  const std::size_t each = std::max(input, slot->output.size() ? outputs / slot->output.size() : 0);
  if (slot->rest) {
    ring.charge(slot, outputs + room_bytes(slot->output) + inputs);
    return each;
  }
  drop_large_room(slot->input);
  ring.charge(slot, outputs + room_bytes(slot->output) + room_bytes(slot->input) + error_bytes(slot));
  return each;
}

/// `counts`: those of the stage, to which its waits for threads belong.
run_task compute_slot(std::shared_ptr<run_context>& run, stage_counts&, std::shared_ptr<slot_supply> shared_ring,
                      ring_slot* slot) {
  auto ring = std::move(shared_ring);
  auto computation = ring->computation();
  clock* time = run->time;
  co_await yield_now();  // oldest first: the consumer waits for that one
  auto began = time->now();
  auto work = computation->compute(*ring, slot);
  status why = co_await work.as_result();
  if (!why.ok()) slot->why = std::move(why);
  const std::size_t each_bytes = charge_outputs(*ring, slot);
  ring->commit_outputs(slot, time->now() - began, each_bytes);
}

/// Computes how far one slot may reach without mixing elements that were delivered, elements that will be replayed, and
/// the others. The lists may be long (those of a forged position), so each is sorted once and read in order.
class reach {
 public:
  reach(ordinal_ranges done, const ordinal_ranges& replayed) : done_(std::move(done)) {
    std::sort(done_.begin(), done_.end());
    std::size_t joined = 0;  // ranges that overlap or touch become one
    for (auto [first, count] : done_) {
      if (joined && first <= end_of(done_[joined - 1]))
        done_[joined - 1].second = std::max(end_of(done_[joined - 1]), first + count) - done_[joined - 1].first;
      else done_[joined++] = {first, count};
    }
    done_.resize(joined);
    bounds_.reserve(done_.size() + 2 * replayed.size());
    for (auto [first, count] : done_) bounds_.push_back(first);
    for (auto [first, count] : replayed) bounds_.insert(bounds_.end(), {first, first + count});
    std::sort(bounds_.begin(), bounds_.end());
  }

  struct step {
    std::uint64_t skip = 0;
    std::uint64_t elements = ~std::uint64_t{0};
  };
  /// Returns the step from input `at`. `at` must not decrease between calls.
  step from(std::uint64_t at) {
    step s;
    while (next_done_ < done_.size() && end_of(done_[next_done_]) <= at) ++next_done_;
    if (next_done_ < done_.size() && done_[next_done_].first <= at) s.skip = end_of(done_[next_done_]) - at;
    at += s.skip;
    while (next_bound_ < bounds_.size() && bounds_[next_bound_] <= at) ++next_bound_;
    if (next_bound_ < bounds_.size()) s.elements = bounds_[next_bound_] - at;
    return s;
  }

 private:
  static std::uint64_t end_of(const ordinal_ranges::value_type& range) { return range.first + range.second; }
  ordinal_ranges done_;                ///< ascending, with gaps between them
  std::vector<std::uint64_t> bounds_;  ///< ascending
  std::size_t next_done_ = 0, next_bound_ = 0;
};

/// The objects that a pump works with.
struct feed {
  std::shared_ptr<slot_supply> ring;
  pump_options options;
  reach limits;
  collected_errors missed;
  mark_watch watch;
  erased_stream in;  // its stage reports to `missed`, so `in` is destroyed first

  feed(std::shared_ptr<slot_supply> r, erased_stream input, pump_options o)
      : ring(std::move(r)),
        options(std::move(o)),
        limits(std::move(options.done), options.replayed),
        missed(ring->run()),
        in(std::move(input)) {
    options.replayed = {};
    in.stage()->set_error_sink(&missed);
    in.take_samples(ring->run()->has_statistics);
  }
  void return_input() {
    in.stage()->set_error_sink(nullptr);
    in.take_samples(false);
    ring->return_input(std::move(in), missed.take());
  }
  /// Ends the channel: no more elements are pulled.
  void finish(ring_slot* unused, status why, std::uint64_t not_passed = 0) {
    unused->missed = missed.take();
    ring->finish(unused, std::move(why), not_passed);
  }
};

/// The result of pulling one slot's elements. `more` is false if the pump must end.
struct pulled {
  bool more = false;
  bool woke_reader = false;
};
task<pulled> pull_one(feed& f, slot_supply::reservation r) {
  slot_supply& ring = *f.ring;
  run_context& run = *ring.run();
  pulled result;
  if (f.watch.due(run) && f.in.has_consistent_state()) ring.note(r.slot, f.in.take_due_mark());
  reach::step limit = f.limits.from(f.in.consumed());
  const pump_options& options = f.options;
  bool one_each = options.one_each || (options.computation && options.computation->awaits());
  demand d;
  d.skip = limit.skip;
  d.elements = one_each ? 1 : static_cast<std::uint32_t>(std::min<std::uint64_t>(r.elements, limit.elements));
  d.bytes = ring.memory().block_bytes();
  auto began = run.time->now();
  auto got = co_await f.in.try_next_block(d);
  if (!got.view) {
    f.finish(r.slot, std::move(got.why), f.in.skip_left());
    co_return result;
  }
  std::uint32_t n = got.view.size();
  ring_slot* slot = r.slot;
  slot->missed = f.missed.take();
  got.view.move_front(slot->input.reserve(n), n);
  slot->input.set_live(0, n);
  const std::uint64_t first = f.in.consumed() - n;
  duration took = run.time->now() - began;
  if (options.computation) ring.filled(slot, first, n, took);  // from now on a resume returns to these inputs
  charge_inputs(ring, slot, options.computation != nullptr);
  result.more = true;
  if (options.computation) start_computing(f.ring, slot);
  else result.woke_reader = ring.commit_inputs(slot, first, n, run.time->now() - began);
  co_return result;
}

run_task pump(std::shared_ptr<run_context>& run, std::unique_ptr<feed> owned) {
  auto f = std::move(owned);
  co_await yield_now();
  for (bool more = true; more;) {
    auto r = co_await f->ring->reserve();
    if (!r.slot) break;
    if (f->options.permits) co_await f->options.permits->acquire();
    auto pulling = pull_one(*f, r);
    result<pulled> got = co_await pulling.as_result();
    if (f->options.permits) f->options.permits->release();
    if (!got.ok()) {
      f->finish(r.slot, got.why());
      break;
    }
    more = got->more;
    // If the input may wait, working ahead gains more than a second core does.
    if (more && f->ring->wants_input() && !f->in.may_wait()) {
      f->return_input();
      break;
    }
    if (got->woke_reader) co_await yield_now();  // downstream first: this worker continues with the consumer, cache-hot
  }
}

}  // namespace

void start_computing(std::shared_ptr<slot_supply> ring, ring_slot* slot) {
  std::shared_ptr<run_context> run = ring->run();
  stage_counts& counts = ring->memory().counts();
  compute_slot(run, counts, std::move(ring), slot);
}

void start_pump(std::shared_ptr<slot_supply> ring, erased_stream in, pump_options options) {
  std::shared_ptr<run_context> run = ring->run();
  in.set_environment(run.get());
  ring->set_computation(options.computation);
  auto all = std::make_unique<feed>(std::move(ring), std::move(in), std::move(options));
  pump(run, std::move(all));
}

}  // namespace sluice::lib
