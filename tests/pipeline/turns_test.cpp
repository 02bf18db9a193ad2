// SPDX-License-Identifier: Apache-2.0
// A stage that never waits shares its worker with other runs, and notices a stop, also while it passes over elements.
#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib {
namespace {

using int64 = std::int64_t;
using namespace std::chrono_literals;

/// Seconds of work for any machine; what does not give way is at it far longer than any wait of these tests.
constexpr int64 kLong = 3'000'000'000;

stream<int64> counting(int64 n) {
  for (int64 i = 0; i < n; ++i) co_yield i;
}

struct outcome {
  std::atomic<bool> begun{false};
  std::atomic<bool> ended{false};
  status why;
  bool any = false;
};

task<void> take_one(stream<int64>& s, outcome& o) {
  o.begun = true;
  auto x = co_await s.try_next();
  o.any = static_cast<bool>(x);
  o.why = x.why;
  auto end = cleanup(std::move(s));
  co_await end;
}

task<int64> drained(runtime& rt, dataset<int64> ds) {
  auto s = ds.iterate(rt);
  int64 n = 0;
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    ++n;
  }
  auto end = cleanup(std::move(s));
  co_await end;
  co_return n;
}

struct busy_plan {
  const char* name;
  dataset<int64> plan;
  std::uint64_t passed_first = 0;
};
std::vector<busy_plan> busy_plans() {
  auto none = [](int64) { return false; };
  return {
      {"a filter that keeps nothing", range(kLong) | filter(none)},
      {"a filter over a user's coroutine", generate([] { return counting(kLong); }) | filter(none)},
      {"a user's coroutine that is passed over", generate([] { return counting(kLong); }), std::uint64_t{1} << 50},
      {"a shuffle that is passed over", range(1'000'000'000'000) | shuffle(1000, {.seed = 1}), std::uint64_t{1} << 50},
      {"a skip above a batch",
       range(kLong) | filter([](int64) { return true; }) | batch(1) | unbatch() | skip(kLong - 1)},
      {"a channel below", range(kLong) | prefetch(100) | filter(none)},
  };
}

}  // namespace

TEST_CASE("one worker: a stage that never waits lets another run go on, and ends at a stop") {
  for (const busy_plan& p : busy_plans()) {
    CAPTURE(p.name);
    runtime rt({.workers = 1});
    outcome o;
    auto s = p.plan.iterate(rt);
    s.pass_over(p.passed_first);
    run_base& run = *s.run();
    std::shared_ptr<run_base> alive = s.shared_run();
    std::thread busy([&] {
      sync_wait(rt, take_one(s, o));
      o.ended = true;
    });
    while (!o.begun) std::this_thread::yield();
    int64 other = sync_wait(rt, drained(rt, range(200) | prefetch(10)));
    bool ended_before = o.ended;
    auto asked = std::chrono::steady_clock::now();
    run.request_stop();
    busy.join();
    auto took = std::chrono::steady_clock::now() - asked;
    CHECK(other == 200);
    CHECK_FALSE(ended_before);
    CHECK_FALSE(o.any);
    CHECK(o.why.code() == status_code::cancelled);
    CHECK(took < 1s);  // some 10 ms; a machine that builds meanwhile takes longer
  }
}

}  // namespace sluice::lib
