// SPDX-License-Identifier: Apache-2.0
// The block protocol itself: what a stage, a hop, an element and a position cost.
#include <benchmark/benchmark.h>

#include "bench/harness.hpp"
#include "bench/references.hpp"
#include "engine/lowering/open_context.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::int64_t kElements = 2'000'000;
constexpr double kCount = kElements;
constexpr std::uint32_t kBlock = 256;

#if defined(__clang__)
constexpr double kStageGoal = 0.3;
#else
constexpr double kStageGoal = 0.5;
#endif

dataset<std::int64_t> built_in() { return range(kElements) | map(first) | filter(keeps) | map(second) | map(third); }

// --- user coroutines ---

template <auto F> stream<std::int64_t> user_map(stream<std::int64_t> in) {
  while (auto x = co_await in.next()) co_yield F(*x);
}
template <auto F> stream<std::int64_t> user_filter(stream<std::int64_t> in) {
  while (auto x = co_await in.next())
    if (F(*x)) co_yield std::move(*x);
}
template <auto F> stream<std::int64_t> committing(saved<std::int64_t> seen, stream<std::int64_t> in) {
  for (;;) {
    seen.commit();
    auto x = co_await in.next();
    if (!x) break;
    ++*seen;
    co_yield F(*x);
  }
}
template <auto F>
constexpr auto committing_map = [](stream<std::int64_t> in) {
  saved<std::int64_t> seen;
  return committing<F>(std::move(seen), std::move(in));
};

template <class Stage> dataset<std::int64_t> five_times(Stage a, Stage b, Stage c, Stage d, Stage e) {
  return range(kElements) | transform(a) | transform(b) | transform(c) | transform(d) | transform(e);
}

/// What each of five stages adds to a range: pairs of passes, differences divided.
samples added_by_five(const dataset<std::int64_t>& with) {
  comparison c = [&] {
    comparison got;
    auto without = range(kElements);
    drain(with, kBlock, kCount);
    for (int i = 0; i < kPairs; ++i) {
      got.ours.push_back(drain(with, kBlock, kCount).per_element());
      got.theirs.push_back(drain(without, kBlock, kCount).per_element());
    }
    return got;
  }();
  std::vector<double> added;
  for (std::size_t i = 0; i != c.ours.size(); ++i) added.push_back((c.ours[i] - c.theirs[i]) / 5);
  return samples(std::move(added));
}

void chain_built_in(report& r) {
  workload ours = [] { return drain(built_in(), kBlock, kCount); };
  workload hand = [] { return on_worker([] { return chain_by_hand(kElements, kBlock); }, kCount); };
  workload plain = [] { return on_worker([] { return chain_by_generators(kElements); }, kCount); };
  comparison by_hand = compare(ours, hand);
  std::vector<double> per_stage;
  for (double ns : by_hand.ours) per_stage.push_back(ns / 5);
  r.at_most("range|map|filter|map|map", "per element and stage", samples(per_stage), kStageGoal, "ns");
  r.at_most("range|map|filter|map|map", "hand loop, same blocks of 256", by_hand.ratio(), 1.3, "times its time");
  r.at_least("range|map|filter|map|map", "plain async generators", compare(ours, plain).speedup(), 6, "times faster");
}
SLUICE_BENCH(chain_built_in);

void chain_user(report& r) {
  r.at_most(
      "user coroutine stage", "co_yield per element",
      added_by_five(five_times(user_map<first>, user_map<third>, user_map<first>, user_map<third>, user_map<first>)),
      1.0, "ns");
  auto commit_first = committing_map<first>;
  r.at_most("user coroutine stage", "with commit() per element",
            added_by_five(five_times(commit_first, commit_first, commit_first, commit_first, commit_first)), 2.0, "ns");
  workload ours = [] {
    return drain(range(kElements) | transform(user_map<first>) | transform(user_filter<keeps>) |
                     transform(user_map<second>) | transform(user_map<third>),
                 kBlock, kCount);
  };
  workload plain = [] { return on_worker([] { return chain_by_generators(kElements); }, kCount); };
  r.at_least("user coroutines, map|filter|map|map", "plain async generators", compare(ours, plain).speedup(), 2.2,
             "times faster");
}
SLUICE_BENCH(chain_user);

void chain_blocks_of_one(report& r) {
  constexpr std::int64_t n = 300'000;
  // Five hops: four between stages and one to the consumer; maps only, so that every element takes all of them.
  auto plan = range(n) | map(first) | map(second) | map(third) | map(first);
  r.at_most("range|map|map|map|map, blocks of one", "per hop", measure([&] { return drain(plan, 1, n * 5.0); }), 5,
            "ns");
}
SLUICE_BENCH(chain_blocks_of_one);

task<pass> one_by_one(stream<std::int64_t> s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto x = co_await s.next())
    benchmark::DoNotOptimize(*x);  // a sum would cost as much again: it lives in the frame
  p.ns = watch.ns();
  co_return p;
}

/// An interleave of `width` inputs, one element a visit, in rounds enough that opening them does not count.
pass interleaved(std::int64_t width, order o) {
  constexpr std::int64_t rounds = 500;
  auto plan =
      range(width) | interleave([](std::int64_t) { return range(rounds); }, {.cycle_length = width, .order = o});
  return drain(plan, kBlock, static_cast<double>(width * rounds));
}

// Nothing that is done for an element looks at all slots. What is left of the ratio are the caches: ten thousand inputs
// have some ten megabytes.
void chain_wide_interleave(report& r) {
  for (order o : {order::deterministic, order::sloppy}) {
    std::vector<double> ratios;
    for (int i = 0; i < kPairs; ++i) {
      double many = interleaved(10'000, o).per_element();
      ratios.push_back(many / interleaved(1'000, o).per_element());
    }
    r.at_most(o == order::sloppy ? "sloppy interleave of 10,000 inputs" : "interleave of 10,000 inputs",
              "an element among 1,000 inputs", samples(ratios), 1.5, "times its time");
  }
}
SLUICE_BENCH(chain_wide_interleave);

void chain_consumer(report& r) {
  auto plan = range(kElements);
  r.at_most("co_await s.next() per element", "over blocks, with range", measure([&] {
              pass p = sync_wait(one_worker(), one_by_one(plan.iterate(one_worker())));
              p.elements = kCount;
              return p;
            }),
            1.2, "ns");
}
SLUICE_BENCH(chain_consumer);

// --- positions ---

task<pass> positions(stream<std::int64_t> s) {
  pass p;
  for (int i = 0; i < 1000; ++i) {
    auto x = co_await s.next();
    p.answer += static_cast<std::uint64_t>(*x);
  }
  constexpr int kTaken = 10'000;
  stopwatch watch(timed::cpu);
  for (int i = 0; i < kTaken; ++i) {
    checkpoint here = s.position();
    p.answer += here.bytes.size();
  }
  p.ns = watch.ns();
  p.elements = kTaken;
  co_return p;
}

task<pass> draining_unmarked(erased_stream s) {
  pass p;
  stopwatch watch(timed::cpu);
  while (auto b = co_await s.next_block({.elements = kBlock})) {
    std::int64_t sum = 0;
    const std::int64_t* x = b.as<std::int64_t>();
    for (std::uint32_t i = 0; i != b.size(); ++i) sum += x[i];
    p.answer += static_cast<std::uint64_t>(sum);
  }
  p.ns = watch.ns();
  co_return p;
}

void chain_positions(report& r) {
  runtime& rt = one_worker();
  auto plan = built_in();
  r.at_most("position() of a 5-stage chain", "mid-block, sealed",
            measure([&] { return sync_wait(rt, positions(plan.iterate(rt))); }), 200, "ns");
  workload resumable = [&] { return drain(plan, kBlock, kCount); };
  // The same tree without a run at its root: no ticks, no marks.
  workload unmarked = [&] {
    auto context = rt.new_run();
    pass p = sync_wait(rt, draining_unmarked(open_context(context).open(plan.plan())));
    p.elements = kCount;
    return p;
  };
  comparison c = compare(resumable, unmarked, 61);
  r.at_most("being resumable", "the same tree without marks", c.ratio(), 1.01, "times its time");
}
SLUICE_BENCH(chain_positions);

}  // namespace
}  // namespace sluice::lib::bench
