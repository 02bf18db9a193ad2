// SPDX-License-Identifier: Apache-2.0
// Scheduling: spawning and joining, fork and join, and crossing from thread to thread; oneTBB in the same run.
#include <thread>

#include "bench/harness.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/sluice.hpp"

#ifdef SLUICE_HAVE_TBB
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

namespace sluice::lib::bench {
namespace {

task<> nothing() {
  bool local = true;
  (void)local;
  co_return;
}

task<pass> spawning(environment& env) {
  constexpr int kTasks = 100'000;
  pass p;
  stopwatch watch(timed::wall);
  for (int i = 0; i < kTasks; ++i) {
    scope s(env);
    s.spawn(nothing());
    co_await s.join();
  }
  p.ns = watch.ns();
  p.elements = kTasks;
  co_return p;
}

task<pass> spawning_many(environment& env) {
  constexpr int kTasks = 100'000, kAtOnce = 100;
  pass p;
  stopwatch watch(timed::wall);
  for (int i = 0; i < kTasks; i += kAtOnce) {
    scope s(env);
    for (int k = 0; k < kAtOnce; ++k) s.spawn(nothing());
    co_await s.join();
  }
  p.ns = watch.ns();
  p.elements = kTasks;
  co_return p;
}

// --- fork and join ---

constexpr int kFib = 27;

task<std::uint64_t> fib(int n) {
  if (n < 2) co_return static_cast<std::uint64_t>(n);
  auto a = fib(n - 1);
  auto b = fib(n - 2);
  auto both = when_all(std::move(a), std::move(b));
  auto [x, y] = co_await both;
  co_return x + y;
}

pass fib_of_ours() {
  pass p;
  stopwatch watch(timed::wall);
  p.answer = sync_wait(all_workers(), fib(kFib));
  p.ns = watch.ns();
  return p;
}

#ifdef SLUICE_HAVE_TBB
std::uint64_t fib_of_tbb(int n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t x = 0, y = 0;
  tbb::task_group g;
  g.run([&x, n] { x = fib_of_tbb(n - 1); });
  y = fib_of_tbb(n - 2);
  g.wait();
  return x + y;
}
#endif

void runtime_spawn(report& r) {
  runtime& rt = all_workers();
  r.at_most("spawn + join of an empty task", "one at a time",
            measure([&] { return sync_wait(rt, spawning(rt.root())); }), 150, "ns");
  r.at_most("spawn + join of an empty task", "a hundred at a time",
            measure([&] { return sync_wait(rt, spawning_many(rt.root())); }), 150, "ns");
}
SLUICE_BENCH(runtime_spawn);

void runtime_fork_join(report& r) {
#ifdef SLUICE_HAVE_TBB
  tbb::task_arena arena(static_cast<int>(all_workers().workers()));
  workload theirs = [&] {
    pass p;
    stopwatch watch(timed::wall);
    arena.execute([&] { p.answer = fib_of_tbb(kFib); });
    p.ns = watch.ns();
    return p;
  };
  r.at_most("fork-join of fib(27)", "oneTBB task_group", compare(fib_of_ours, theirs).ratio(), 1.5, "times its time");
#else
  r.skipped("fork-join of fib(27)", "oneTBB was not found");
#endif
}
SLUICE_BENCH(runtime_fork_join);

// --- from thread to thread ---

constexpr std::int64_t kBlock = 256;
using numbers = std::vector<std::int64_t>;

// Blocks are used again and again, as the engine's are: one more than the channel holds, one sent from, one read.
constexpr std::size_t kInChannel = 16;

task<> send_blocks(channel<numbers*>& to, std::int64_t blocks) {
  static std::vector<numbers> room(kInChannel + 3, numbers(kBlock));
  for (std::int64_t b = 0; b < blocks; ++b) {
    numbers* block = &room[static_cast<std::size_t>(b) % room.size()];
    for (std::int64_t i = 0; i < kBlock; ++i) (*block)[static_cast<std::size_t>(i)] = b * kBlock + i;
    bool taken = co_await to.send(block);
    if (!taken) break;
  }
  to.close();
}

task<std::uint64_t> add_blocks(channel<numbers*>& from) {
  std::uint64_t sum = 0;
  while (auto block = co_await from.receive()) {
    std::int64_t of_block = 0;
    for (std::int64_t x : **block) of_block += x;
    sum += static_cast<std::uint64_t>(of_block);
  }
  co_return sum;
}

/// Sender and receiver have a worker of their own each, so that every block crosses.
pass crossing(std::int64_t elements) {
  static runtime sending({.workers = 1}), receiving({.workers = 1});
  channel<numbers*> between({.elements = kInChannel});
  pass p;
  p.elements = static_cast<double>(elements);
  stopwatch watch(timed::wall);
  std::thread sender([&] { sync_wait(sending, send_blocks(between, elements / kBlock)); });
  p.answer = sync_wait(receiving, add_blocks(between));
  p.ns = watch.ns();
  sender.join();
  return p;
}

void runtime_crossing(report& r) {
  r.at_most("channel between two threads, blocks of 256", "per element", measure([] { return crossing(4'096'000); }), 5,
            "ns");
  auto plan = range(4'000'000) | prefetch(8 * kBlock);
  workload prefetched = [&] { return drain(plan, kBlock, 4e6, timed::wall, all_workers()); };
  r.at_most("prefetch, blocks of 256", "per element, with range", measure(prefetched), 5, "ns");
#ifdef SLUICE_HAVE_TBB
  constexpr std::int64_t kFewer = 1'024'000;  // theirs goes element by element
  tbb::task_arena arena(static_cast<int>(all_workers().workers()));
  workload ours = [] { return crossing(kFewer); };
  workload theirs = [&] {
    pass p;
    p.elements = static_cast<double>(kFewer);
    stopwatch watch(timed::wall);
    arena.execute([&] {
      std::int64_t next = 0;
      auto source = tbb::make_filter<void, std::int64_t>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& c) {
        if (next == kFewer) c.stop();
        return next++;
      });
      auto sink = tbb::make_filter<std::int64_t, void>(
          tbb::filter_mode::serial_in_order, [&](std::int64_t x) { p.answer += static_cast<std::uint64_t>(x); });
      tbb::parallel_pipeline(64, source & sink);
    });
    p.ns = watch.ns();
    return p;
  };
  r.at_least("channel between two threads, blocks of 256", "oneTBB parallel_pipeline by element",
             compare(ours, theirs).speedup(), 15, "times faster");
#else
  r.skipped("channel between two threads", "oneTBB was not found");
#endif
}
SLUICE_BENCH(runtime_crossing);

}  // namespace
}  // namespace sluice::lib::bench
