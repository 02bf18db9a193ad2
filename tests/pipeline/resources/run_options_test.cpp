// SPDX-License-Identifier: Apache-2.0
// The options of a run: workers of its own, cpu_budget, warm_start, statistics, external_state and order.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/scheduler.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::run_options_test {
namespace {

using namespace std::chrono_literals;
using int64 = std::int64_t;

/// How many calls run at once.
struct concurrency {
  std::atomic<int> now{0}, most{0};
  void call() {
    const int inside = now.fetch_add(1) + 1;
    for (int seen = most.load(); seen < inside && !most.compare_exchange_weak(seen, inside);) {}
    for (int i = 0; i != 100 && now.load() < 3; ++i) std::this_thread::yield();  // others may enter meanwhile
    now.fetch_sub(1);
  }
};

dataset<int64> counted(concurrency& calls, int64 elements) {
  return range(elements) |
         map(
             [&calls](int64 x) {
               calls.call();
               return x;
             },
             {.parallelism = 8}) |
         batch(4) | unbatch() | prefetch(16) | map([&calls](int64 x) {
           calls.call();
           return x;
         });
}

task<int64> sum_of(runtime& rt, dataset<int64> ds, iterate_options o) {
  auto s = ds.iterate(rt, o);
  int64 sum = 0;
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    sum += *x;
  }
  co_await cleanup(std::move(s));
  co_return sum;
}

}  // namespace

TEST_CASE("two runs of one runtime stay within their own cpu_budget") {
  runtime rt({.workers = 4});
  concurrency one, two;
  int64 sum = 0;  // checked after the join: checks are not safe on two threads at once
  std::thread other([&] { sum = sync_wait(rt, sum_of(rt, counted(one, 400), {.cpu_budget = 1})); });
  CHECK(sync_wait(rt, sum_of(rt, counted(two, 400), {.cpu_budget = 2})) == 400 * 399 / 2);
  other.join();
  CHECK(sum == 400 * 399 / 2);
  CHECK(one.most.load() == 1);
  CHECK(two.most.load() <= 2);
}

TEST_CASE("a plan states its cpu_budget, and the run's own decides first") {
  runtime rt({.workers = 4});
  concurrency calls;
  CHECK(sync_wait(rt, sum_of(rt, counted(calls, 200) | with_options({.cpu_budget = 1}), {})) == 200 * 199 / 2);
  CHECK(calls.most.load() == 1);
  CHECK(sync_wait(rt, sum_of(rt, counted(calls, 200) | with_options({.cpu_budget = 1}), {.cpu_budget = 2})) ==
        200 * 199 / 2);
  CHECK(calls.most.load() <= 2);
}

TEST_CASE("a run with workers of its own calls its functions on these only") {
  runtime rt({.workers = 2});
  scheduler& pool = rt.add_pool(2);
  std::atomic<int> inside{0}, outside{0};
  auto plan = [&](int64 n) {
    return range(n) |
           map(
               [&](int64 x) {
                 (pool.on_worker() ? inside : outside).fetch_add(1);
                 return x;
               },
               {.parallelism = 4}) |
           prefetch(8);
  };
  CHECK(sync_wait(rt, sum_of(rt, plan(500), {.pool = &pool})) == 500 * 499 / 2);
  CHECK(inside.load() == 500);
  CHECK(outside.load() == 0);
  CHECK(sync_wait(rt, sum_of(rt, plan(10), {})) == 45);
  CHECK(inside.load() == 500);
  CHECK(outside.load() == 10);
  // The budget of a run on a pool.
  concurrency calls;
  CHECK(sync_wait(rt, sum_of(rt, counted(calls, 200), {.pool = &pool, .cpu_budget = 1})) == 200 * 199 / 2);
  CHECK(calls.most.load() == 1);
}

TEST_CASE("a run with workers of its own reports errors, and stops when its stream is destroyed") {
  runtime rt({.workers = 2});
  scheduler& pool = rt.add_pool(1);
  auto failing = range(100) | map(
                                  [](int64 x) {
                                    if (x == 50) throw_status(data_loss_error("fifty is out"));
                                    return x;
                                  },
                                  {.parallelism = 4});
  CHECK_THROWS_WITH(sync_wait(rt, sum_of(rt, failing, {.pool = &pool})), Catch::Contains("fifty is out"));
  for (int i = 0; i != 20; ++i) {
    auto s = (counter() | prefetch(4)).iterate(rt, {.pool = &pool, .cpu_budget = 1});
    auto first = [](stream<int64>& from) -> task<int64> {
      auto x = co_await from.next();
      co_return *x;
    };
    CHECK(sync_wait(rt, first(s)) == 0);
  }
  CHECK_THROWS_WITH(rt.add_pool(0), Catch::Contains("a pool has 1 to 1024 workers"));
}

TEST_CASE("a run with a cpu_budget in a simulation yields the same") {
  for (std::uint64_t seed = 1; seed != 20; ++seed) {
    simulation world(seed);
    runtime rt(world);
    concurrency calls;
    CHECK(sync_wait(rt, sum_of(rt, counted(calls, 50), {.cpu_budget = 1})) == 50 * 49 / 2);
    CHECK_THROWS_WITH(rt.add_pool(1), Catch::Contains("a simulation has one thread"));
  }
}

TEST_CASE("a warm start fills the channels before the first request, also after a resume") {
  auto slow = [](int64 x) -> task<int64> {
    co_await sleep_for(1s);
    co_return x;
  };
  // zip has two channels, and map(f) between prefetch and the root has none.
  auto ds = zip(range(20) | map(slow) | prefetch(4), range(20) | map(slow, {.parallelism = 2}) | prefetch(4)) |
            map([](const std::tuple<int64, int64>& p) { return std::get<0>(p) + std::get<1>(p); });
  auto time_of_first = [&](const iterate_options& o, int64 expected) {
    simulation world(3);
    runtime rt(world);
    auto first = [](runtime& of, dataset<int64> plan, iterate_options how) -> task<std::pair<int64, duration>> {
      auto s = plan.iterate(of, how);
      co_await sleep_for(60s);
      const time_point began = of.time().now();
      auto x = co_await s.next();
      int64 got = x ? *x : -1;
      co_return std::pair(got, of.time().now() - began);
    };
    auto [got, took] = sync_wait(rt, first(rt, ds, o));
    CHECK(got == expected);
    return took;
  };
  CHECK(time_of_first({}, 0) >= 1s);
  CHECK(time_of_first({.warm_start = true}, 0) < 1ms);
  ds = ds | with_options({.warm_start = true});
  CHECK(time_of_first({}, 0) < 1ms);
  CHECK(time_of_first({.warm_start = false}, 0) >= 1s);
  simulation world(4);
  runtime rt(world);
  auto position = [](runtime& of, dataset<int64> plan) -> task<checkpoint> {
    auto s = plan.iterate(of);
    for (int i = 0; i != 3; ++i) (void)co_await s.next();
    co_return s.position();
  };
  CHECK(time_of_first({.from = sync_wait(rt, position(rt, ds))}, 6) < 1ms);
}

TEST_CASE("a run without statistics reports no counts") {
  runtime rt({.workers = 2});
  auto elements = [&](const dataset<int64>& ds, const iterate_options& o) {
    auto count = [](runtime& of, dataset<int64> plan, iterate_options how) -> task<std::uint64_t> {
      auto s = plan.iterate(of, how);
      for (;;) {
        auto x = co_await s.next();
        if (!x) break;
      }
      std::uint64_t sum = 0;
      for (const site_report& site : report_of(s).sites) sum += site.elements;
      co_return sum;
    };
    return sync_wait(rt, count(rt, ds, o));
  };
  auto ds = range(100) | map([](int64 x) { return x + 1; }) | prefetch(4);
  CHECK(elements(ds, {}) == 300);
  CHECK(elements(ds, {.statistics = false}) == 0);
  CHECK(elements(ds | with_options({.statistics = false}), {}) == 0);
  CHECK(elements(ds | with_options({.statistics = false}), {.statistics = true}) >= 300);
}

TEST_CASE("external_state decides about checkpoints that cannot compare functions") {
  runtime rt({.workers = 1});
  auto unknown = std::make_shared<int64>(3);  // captured, and without bytes to compare
  auto ds = range(10) | map([unknown](int64 x) { return x + *unknown; });
  auto warnings = [&](const dataset<int64>& plan, const iterate_options& o) {
    auto save = [](runtime& of, dataset<int64> p, iterate_options how) -> task<std::size_t> {
      auto s = p.iterate(of, how);
      (void)co_await s.next();
      (void)s.position();
      co_return report_of(s).warnings.size();
    };
    return sync_wait(rt, save(rt, plan, o));
  };
  CHECK(warnings(ds, {}) == 1);
  CHECK(warnings(ds, {.external_state = external_state::ignore}) == 0);
  CHECK_THROWS_WITH(warnings(ds, {.external_state = external_state::refuse}),
                    Catch::Contains("external_state=refuse allows no checkpoint of this plan"));
  CHECK_THROWS_WITH(warnings(ds | with_options({.external_state = external_state::refuse}), {}),
                    Catch::Contains("external_state=refuse"));
  CHECK(warnings(ds | with_options({.external_state = external_state::refuse}),
                 {.external_state = external_state::ignore}) == 0);
  CHECK(warnings(range(10) | map(expr<int64>("it + 1")), {.external_state = external_state::refuse}) == 0);
}

TEST_CASE("the order of a run is that of with_options at the end of the plan") {
  runtime rt({.workers = 1});
  auto ds = range(10) | map(expr<int64>("it + 1"));
  auto position = [](runtime& of, dataset<int64> plan, iterate_options o) -> task<checkpoint> {
    auto s = plan.iterate(of, o);
    (void)co_await s.next();
    co_return s.position();
  };
  const checkpoint saved = sync_wait(rt, position(rt, ds, {.order = sloppy}));
  CHECK(sync_wait(rt, sum_of(rt, ds, {.from = saved, .order = sloppy})) == 54);
  CHECK(sync_wait(rt, sum_of(rt, ds | with_options({.order = sloppy}), {.from = saved})) == 54);
  CHECK_THROWS_WITH(sync_wait(rt, sum_of(rt, ds, {.from = saved})), Catch::Contains("plan"));
}

TEST_CASE("with_options merges rules by name, and the outermost decides each") {
  dataset<int64> ds = range(9) | repeat(1) | with_options({.rules = {"remove_noops=off", "push_take=on"}}) |
                      with_options({.rules = {"push_take=off"}, .cpu_budget = 3}) | with_options({.cpu_budget = 2});
  const dataset_options all = ds.options();
  CHECK(all.rules.list == std::vector<std::string>{"push_take=off", "remove_noops=off"});
  CHECK(all.cpu_budget.value == 2);
  CHECK_THROWS_WITH(range(9) | with_options({.rules = {"x"}}), Catch::Contains("must be a list of texts such as"));
  CHECK_THROWS_WITH(optimize((range(9) | with_options({.rules = {"push_tke=off"}})).plan()),
                    Catch::Contains("push_tke is no rule; the rules are"));
}

}  // namespace sluice::lib::run_options_test
