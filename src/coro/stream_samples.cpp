// SPDX-License-Identifier: Apache-2.0
// The parts of stream_base that count and time elements: see sluice/coro/stage_counts.hpp.
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "coro/trace_log.hpp"
#include "element/batches/kernels.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/stream_base.hpp"

namespace sluice::lib {
namespace {

/// One block of four intervals is timed: with 32 or 64 blocks between two looks, about 1 % of the blocks.
constexpr std::uint16_t kIntervalsPerSample = 4;
/// The memory of at most this number of elements of a timed block is measured one by one.
constexpr std::uint32_t kSizedElements = 16;
/// Blocks of short intervals take more than 60 µs each. One of each interval is timed.
constexpr std::uint16_t kShortInterval = 8;

/// Adds the sizes of some of the `n` elements, which stand for all, with their weight. Returns the bytes of all.
std::size_t add_sizes(stage_counts& counts, const block& of, std::uint32_t n, std::uint64_t weight) {
  const element_type& t = of.type();
  if (n == 0) return 0;
  const auto enter = [&](std::size_t bytes, double elements) {
    const auto each = static_cast<double>(bytes);
    counts.sized_bytes.fetch_add(each * elements, std::memory_order_relaxed);
    counts.sized_square.fetch_add(each * each * elements, std::memory_order_relaxed);
    if (bytes > counts.largest_bytes.load(std::memory_order_relaxed))  // as for longest_ns
      counts.largest_bytes.store(bytes, std::memory_order_relaxed);
  };
  const std::uint64_t all = n * weight;
  stage_counts::add(counts.sized_elements, all);
  std::size_t bytes = n * t.size;
  if (!t.footprint || t.footprint == detail::no_footprint) {
    enter(t.size, static_cast<double>(all));
    return bytes;
  }
  bytes += t.footprint(t, of.data(), n);
  const std::uint32_t sized = std::min(n, kSizedElements);
  for (std::uint32_t i = 0; i != sized; ++i) {
    const char* at = of.data() + std::uint64_t{i} * n / sized * t.size;
    enter(t.size + t.footprint(t, at, 1), static_cast<double>(all) / sized);
  }
  return bytes;
}

}  // namespace

void stream_base::plan_sample() {
  const std::uint16_t fills = turn_.interval();
  const std::uint64_t drawn = mix(fetched_ + ++samples_);
  planned_weight_ = fills;
  if (fills > kShortInterval) {
    if (drawn % kIntervalsPerSample) return;
    planned_weight_ = static_cast<std::uint16_t>(fills * kIntervalsPerSample);
  }
  const auto at = static_cast<std::uint16_t>((drawn >> 32) % fills);
  if (at == 0) begin_sample(child_->env, planned_weight_);
  else turn_.pause_after(at);
}

void stream_base::begin_sample(const environment* env, std::uint32_t weight) {
  stage_base* c = child_;
  if (!c || !env || !env->time) return;
  c->sample_weight_ = weight;
  c->others_took_ = duration(0);
  c->input_bytes_ = 0;
  sampled_passed_ = passed_;
  sampled_at_ = env->time->now();
}

void stream_base::end_sample(std::uint32_t n) {
  stage_base* c = child_;
  const std::uint64_t weight = std::exchange(c->sample_weight_, 0);
  const time_point now = c->env->time->now();
  duration took = now - sampled_at_;
  promise_base* owner = c->waiter;
  stage_base* reader = owner && !owner->is_task() ? static_cast<stage_base*>(owner) : nullptr;
  // If the library lowers one node to several stages, only one of them has counters, and its time includes that of the
  // others.
  if (reader) reader->others_took_ += c->counts_ ? took : c->others_took_;
  if (!c->counts_) {
    if (reader) reader->input_bytes_ += c->input_bytes_;
    return;
  }
  stage_counts& counts = *c->counts_;
  const std::uint64_t elements = n + passed_ - sampled_passed_;
  if (tracing()) [[unlikely]]
    trace_span({&counts, c->label()}, trace_group::block, sampled_at_, now, elements, weight);
  stage_counts::add(counts.sampled_elements, elements * weight);
  const auto ns = static_cast<std::uint64_t>(std::max(took - c->others_took_, duration(0)).count());
  stage_counts::add(counts.sampled_ns, ns * weight);
  counts.add_squares(counts.sampled_square, ns, elements, weight);
  const std::size_t bytes = add_sizes(counts, c->handed_, n, weight);
  stage_counts::add(counts.sampled_bytes, bytes * weight);
  if (reader) reader->input_bytes_ += bytes;
  // The times of a stage with parallel tasks are those of the tasks.
  const stage_counts::rare_counts* rare = counts.find_rare();
  if (n && (!rare || rare->computed_elements.load(std::memory_order_relaxed) == 0))
    counts.add_to_class(std::max(bytes, c->input_bytes_) / n, elements * weight, ns * weight);
}

namespace {

/// A coroutine that resumes another one, and frees itself.
struct late_start {
  struct promise_type {
    static void* operator new(std::size_t bytes) noexcept { return ::operator new(bytes, std::nothrow); }
    static late_start get_return_object_on_allocation_failure() noexcept { return {}; }
    late_start get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }  // the body throws nothing
  };
  std::coroutine_handle<> handle;
};
struct continue_as {
  std::coroutine_handle<> next;
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) const noexcept {
    std::coroutine_handle<> to = next;  // this awaiter is in the frame
    me.destroy();
    return to;
  }
  void await_resume() const noexcept {}
};
/// `began`: when the sample began. `others`: the time of others in the consumer's sample, if that is a stage.
late_start start_late(const clock& time, time_point posted, time_point& began, duration* others,
                      std::coroutine_handle<> next) {
  const duration queued = time.now() - posted;
  began += queued;
  if (others) *others += queued;
  continue_as going{next};
  co_await going;
}

}  // namespace

void stream_base::post_behind_others(std::coroutine_handle<> next) {
  stage_base* c = child_;
  environment& e = *c->env;
  if (c->sample_weight_) {
    promise_base* owner = c->waiter;
    duration* others = owner && !owner->is_task() ? &static_cast<stage_base*>(owner)->others_took_ : nullptr;
    const late_start late = start_late(*e.time, e.time->now(), sampled_at_, others, next);
    if (late.handle) next = late.handle;  // without memory the sample includes the time of others
  }
  e.exec->post_later(next);  // after this line nothing of the tree may be accessed
}

void stream_base::end_consumer_wait() {
  const time_point now = child_->env->time->now();
  run_->consumer.got(now, fetched_ + todo_ - left());
  if (tracing()) [[unlikely]]
    trace_consumer_wait(run_.get(), asked_at_, now);
}

void stream_base::flush_counts() const noexcept {
  stage_counts* counts = child_->counts_;
  if (!counts || fetched_ == counted_) return;
  stage_counts::add(counts->elements, fetched_ - counted_ - passed_);
  stage_counts::add(counts->passed, passed_);
  stage_counts::add(counts->blocks, blocks_);
  counted_ = fetched_;
  passed_ = sampled_passed_ = blocks_ = 0;
}

void stream_base::flush_all_counts() const noexcept {
  if (!child_) return;
  flush_counts();
  for (const stage_input& in : child_->state_.inputs()) in.stream->flush_all_counts();
  child_->state_.add_owner_counts();
  if (const stream_base* in = child_->state_.owned_input()) in->flush_all_counts();
}

}  // namespace sluice::lib
