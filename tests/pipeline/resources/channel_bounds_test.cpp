// SPDX-License-Identifier: Apache-2.0
// A channel works ahead by as much as it may, and by nothing more.
#include <algorithm>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::channel_bounds_test {
namespace {

using int64 = std::int64_t;

/// How many calls there were, and how many at once. A simulation is one thread.
struct calls {
  int64 begun = 0, running = 0, most = 0;
};
calls* g_calls = nullptr;

task<int64> counted_call(int64 x) {
  ++g_calls->begun;
  g_calls->most = std::max(g_calls->most, ++g_calls->running);
  co_await sleep_for(std::chrono::milliseconds(1));
  --g_calls->running;
  co_return x;
}
int64 counted_element(int64 x) {
  ++g_calls->begun;
  return x;
}

/// Takes n elements, and lets everybody work ahead before each.
task<void> take_slowly(any_stream s, int64 n) {
  for (int64 i = 0; i != n; ++i) {
    auto b = co_await s.next_block({0, 1});
    if (!b) break;
    co_await sleep_for(std::chrono::seconds(1));
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

calls of(const dataset<int64>& ds, int64 taken) {
  calls c;
  g_calls = &c;
  simulation world(1);
  world.decide_sharing([] { return true; });
  runtime rt(world, {.workers = 2});
  sync_wait(rt, take_slowly(open_run(rt, ds.plan(), {}), taken));
  return c;
}

}  // namespace

TEST_CASE("a channel of calls runs as many at once as its parallelism, and begins as many beyond the consumed ones") {
  for (order o : {order::deterministic, order::sloppy}) {
    for (int64 parallelism : {2, 3, 8}) {
      CAPTURE(parallelism, o == order::sloppy);
      auto ds = range(1000) | map(counted_call, {.parallelism = parallelism, .order = o});
      calls c = of(ds, 5);
      CHECK(c.most == parallelism);
      CHECK(c.begun == 5 + parallelism);
    }
  }
}

TEST_CASE("prefetch has its declared number of elements ahead, or half of them before it is woken") {
  for (int64 elements : {1, 2, 7}) {
    CAPTURE(elements);
    calls c = of(range(1000) | map(counted_element) | prefetch(elements), 5);
    CHECK(c.begun <= 5 + elements);
    CHECK(c.begun >= 5 + elements / 2);
  }
}

}  // namespace sluice::lib::channel_bounds_test
