// SPDX-License-Identifier: Apache-2.0
// A simulation with cores: coroutines compute at the same time, and see everything in the order of virtual time.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/channel.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::simulated_cores_test {
namespace {

using namespace std::chrono_literals;
using int64 = std::int64_t;

task<> compute(simulation& w, duration each, std::vector<duration>& ended) {
  co_await yield_now();
  w.spend(each);
  ended.push_back(w.elapsed());
}
task<> compute_all(simulation& w, int tasks, duration each, std::vector<duration>& ended) {
  environment* env = co_await this_environment();
  scope s(*env);
  for (int i = 0; i != tasks; ++i) s.spawn(compute(w, each, ended));
  co_await s.join();
}

/// Sends the time of each element, and computes for `each` before and after it.
task<> send_times(simulation& w, channel<duration>& to, duration each, int n) {
  co_await yield_now();
  for (int i = 0; i != n; ++i) {
    w.spend(each);
    bool taken = co_await to.send(w.elapsed());
    if (!taken) co_return;
    w.spend(each);
  }
  to.close();
}
using hand_overs = std::vector<std::pair<duration, duration>>;
task<> receive_times(simulation& w, channel<duration>& from, duration each, hand_overs& seen) {
  co_await yield_now();
  while (auto sent = co_await from.receive()) {
    seen.emplace_back(*sent, w.elapsed());
    w.spend(each);
  }
}
task<> hand_over(simulation& w, duration produce, duration consume, hand_overs& seen) {
  channel<duration> c({.elements = 2});
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(receive_times(w, c, consume, seen));
  s.spawn(send_times(w, c, produce, 10));
  co_await s.join();
}

/// A number behind a mutex, with the time at which it was last written.
struct shared_number {
  mutex m;
  int value ABSL_GUARDED_BY(m) = 0;
  duration written ABSL_GUARDED_BY(m){};
};
task<> increment(simulation& w, shared_number& n, duration each, int times) {
  co_await yield_now();
  for (int i = 0; i != times; ++i) {
    w.spend(each);
    mutex_lock lock(n.m);
    CHECK(n.written <= w.elapsed());
    n.written = w.elapsed();
    ++n.value;
  }
}
task<> increment_together(simulation& w, shared_number& n) {
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(increment(w, n, 3ms, 10));
  s.spawn(increment(w, n, 7ms, 10));
  s.spawn(increment(w, n, 2ms, 10));
  co_await s.join();
}

task<> sleep_beside_work(simulation& w, std::vector<duration>& woken) {
  co_await yield_now();
  for (int i = 0; i != 3; ++i) {
    co_await sleep_for(4ms);
    woken.push_back(w.elapsed());
  }
}
task<> work_and_sleep(simulation& w, std::vector<duration>& woken, std::vector<duration>& ended) {
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(sleep_beside_work(w, woken));
  s.spawn(compute(w, 10ms, ended));
  co_await s.join();
}

task<> drain(stream<int64> s) {
  while (auto x = co_await s.next()) (void)x;
}
/// The virtual time that the plan takes if its consumer takes no time.
duration makespan(std::uint64_t seed, unsigned cores, const std::function<dataset<int64>(simulation&)>& plan) {
  simulation w(seed, {.cores = cores});
  runtime rt(w);
  sync_wait(rt, drain(plan(w).iterate(rt)));
  return w.elapsed();
}

}  // namespace

TEST_CASE("four tasks of 10 ms end after 40, 20 and 10 ms on 1, 2 and 4 cores") {
  for (auto [cores, total] : std::map<unsigned, duration>{{1, 40ms}, {2, 20ms}, {4, 10ms}, {16, 10ms}}) {
    for (std::uint64_t seed = 0; seed != 20; ++seed) {
      CAPTURE(cores, seed);
      simulation w(seed, {.cores = cores});
      std::vector<duration> ended;
      sync_wait(w, compute_all(w, 4, 10ms, ended));
      CHECK(w.elapsed() == total);
      CHECK(w.spent() == 40ms);
      CHECK(std::is_sorted(ended.begin(), ended.end()));
      for (unsigned i = 0; i != 4; ++i) CHECK(ended[i] == 10ms * (i / std::min(cores, 4u) + 1));
    }
  }
}

TEST_CASE("640 tasks and a parallel map have the makespan of 1, 2, 8 and 64 cores") {
  for (unsigned cores : {1u, 2u, 8u, 64u}) {
    CAPTURE(cores);
    auto plan = [](simulation& w) {
      auto decode = [&w](int64 x) {
        w.spend(10ms);
        return x;
      };
      return range(640) | map(decode, {.parallelism = 64});
    };
    for (std::uint64_t seed = 0; seed != 3; ++seed) {
      simulation w(seed, {.cores = cores});
      std::vector<duration> ended;
      sync_wait(w, compute_all(w, 640, 10ms, ended));
      CHECK(w.elapsed() == 10ms * (640 / cores));
      const duration took = makespan(seed, cores, plan);
      CHECK(took >= 10ms * (640 / cores));
      CHECK(took <= 10ms * (640 / cores + 2));  // blocks may end with fewer elements
    }
  }
}

TEST_CASE("the effect is never before the cause: channels") {
  for (std::uint64_t seed = 0; seed != 20; ++seed) {
    CAPTURE(seed);
    simulation w(seed, {.cores = 2});
    hand_overs seen;
    sync_wait(w, hand_over(w, 5ms, 3ms, seen));
    REQUIRE(seen.size() == 10);
    for (std::size_t i = 0; i != seen.size(); ++i) {
      CHECK(seen[i].first == 5ms + 10ms * i);
      CHECK(seen[i].second == seen[i].first);  // the reader is faster, so it waits
    }
    simulation slow(seed, {.cores = 2});
    seen.clear();
    sync_wait(slow, hand_over(slow, 1ms, 30ms, seen));
    for (std::size_t i = 0; i != seen.size(); ++i) {
      CHECK(seen[i].second == 1ms + 30ms * i);
      CHECK(seen[i].first <= seen[i].second);
    }
    CHECK(seen.back().first >= seen[seen.size() - 4].second);  // two elements of room: the sender has waited
  }
}

TEST_CASE("the effect is never before the cause: mutexes and timers") {
  for (std::uint64_t seed = 0; seed != 20; ++seed) {
    CAPTURE(seed);
    simulation w(seed, {.cores = 3});
    shared_number n;
    sync_wait(w, increment_together(w, n));
    CHECK(w.elapsed() == 70ms);
    mutex_lock lock(n.m);
    CHECK(n.value == 30);

    for (unsigned cores : {1u, 2u}) {
      simulation t(seed, {.cores = cores});
      std::vector<duration> woken, ended;
      sync_wait(t, work_and_sleep(t, woken, ended));
      CHECK(ended.size() == 1);
      REQUIRE(woken.size() == 3);
      if (cores == 2) CHECK(woken == std::vector<duration>{4ms, 8ms, 12ms});
      else CHECK((woken[0] == 10ms || woken[0] == 14ms || (woken[0] == 4ms && ended[0] >= 10ms)));
    }
  }
}

TEST_CASE("blocking calls spend time beside the cores") {
  simulation w(5, {.cores = 1});
  runtime rt(w);
  auto work = [](simulation& w, runtime& rt) -> task<duration> {
    auto call = blocking(rt.blocking_calls(), [&w] {
      CHECK_FALSE(w.on_worker());
      w.spend(30ms);
      return w.elapsed();
    });
    duration ended = co_await call;
    CHECK(w.on_worker());
    w.spend(5ms);
    co_return ended;
  };
  CHECK(sync_wait(rt, work(w, rt)) == 30ms);
  CHECK(w.elapsed() == 35ms);
}

TEST_CASE("one seed gives one order with cores, too") {
  auto trace = [](std::uint64_t seed, unsigned cores) {
    simulation w(seed, {.cores = cores});
    runtime rt(w);
    auto slow = [&w](int64 x) {
      w.spend(duration(1000 * (x % 7)));
      return x;
    };
    auto ds = range(500) | map(slow, {.parallelism = 8}) | shuffle(50) | map(slow) | prefetch(4);
    sync_wait(rt, drain(ds.iterate(rt, {.seed = 1})));
    return std::pair(w.trace(), w.elapsed());
  };
  for (unsigned cores : {1u, 2u, 8u}) {
    CHECK(trace(3, cores) == trace(3, cores));
    CHECK(trace(3, cores).first != trace(4, cores).first);
  }
}

TEST_CASE("a runtime has the cores of its simulation as workers, and a deadlock is found") {
  simulation w(2, {.cores = 6});
  runtime rt(w, {.workers = 2});
  CHECK(w.cores() == 6);
  CHECK(rt.workers() == 6);
  channel<int> c({.elements = 1});
  auto starve = [](channel<int>& from) -> task<> {
    auto x = co_await from.receive();
    (void)x;
  };
  CHECK_THROWS_WITH(sync_wait(w, starve(c)), Catch::Contains("is stuck"));
  CHECK_THROWS_WITH(simulation(1, {.cores = 5000}), Catch::Contains("at most 1024 cores"));
}

}  // namespace sluice::lib::simulated_cores_test
