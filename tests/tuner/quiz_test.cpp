// SPDX-License-Identifier: Apache-2.0
// The quiz of the talk that this project starts from, by autotune alone: stages of 20, 100 and 200 ms, in virtual time.
#include <algorithm>
#include <chrono>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"

namespace sluice::lib::quiz_test {
namespace {

using std::chrono::milliseconds;
using int64 = std::int64_t;

/// The calls of all stages at this moment, and the most at any moment.
struct calls {
  int now = 0, most = 0;
};

template <int Ms> auto work(calls& all) {
  struct call {
    calls* all;
    task<int64> operator()(int64 x) const { return made(all, x); }
    static task<int64> made(calls* all, int64 x) {
      all->most = std::max(all->most, ++all->now);
      co_await sleep_for(milliseconds(Ms));
      --all->now;
      co_return x;
    }
  };
  return call{&all};
}

struct outcome {
  std::vector<int64> at;  ///< when each element came, in milliseconds
  int most = 0;
  std::size_t peak_bytes = 0;
  run_report report;
};

task<void> consume(const simulation& world, stream<int64>& s, duration step, outcome& o) {
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    o.at.push_back(std::chrono::duration_cast<milliseconds>(world.elapsed()).count());
    if (step.count()) co_await sleep_for(step);
  }
}

outcome run(unsigned cores, std::uint64_t seed, knob hundred, knob two_hundred, int64 count, duration step = {}) {
  simulation world(seed, {.cores = cores});
  runtime rt(world);
  calls all;
  auto ds = range(count) | map(work<20>(all)) | map(work<100>(all), {.parallelism = hundred}) |
            map(work<200>(all), {.parallelism = two_hundred});
  outcome o;
  auto s = ds.iterate(rt, {.seed = 1, .tune = true});
  sync_wait(rt, consume(world, s, step, o));
  o.report = s.report();
  o.peak_bytes = rt.ledger().report().peak_bytes;
  sync_wait(rt, cleanup(std::move(s)));
  o.most = all.most;
  return o;
}

}  // namespace

TEST_CASE("the quiz by autotune: 320 ms, then at most 21 ms from element 30 on, with at most 20 calls in flight") {
  for (unsigned cores : {4u, 16u, 64u}) {
    for (std::uint64_t seed = test::first_seed(); seed != test::first_seed() + test::cases(5); ++seed) {
      const outcome o = run(cores, seed, autotune, autotune, 200);
      CAPTURE(cores, seed, o.at);
      REQUIRE(o.at.size() == 200);
      CHECK(o.at[0] == 320);
      for (std::size_t i = 1; i != o.at.size(); ++i) CHECK(o.at[i] - o.at[i - 1] <= (i < 30 ? 200 : 21));
      CHECK(o.most <= 20);
      for (const knob_choice& k : o.report.tuning.knobs) {
        CAPTURE(k.stage, k.value, k.reason);
        CHECK(k.value <= 12);
      }
    }
  }
}

TEST_CASE("a requested parallelism of 1,024 is as fast as 16, and needs its memory") {
  for (unsigned cores : {4u, 16u}) {
    const outcome sixteen = run(cores, 1, 16, 16, 400), many = run(cores, 1, 1024, 1024, 400);
    CAPTURE(cores, sixteen.at.back(), many.at.back(), sixteen.peak_bytes, many.peak_bytes);
    CHECK(static_cast<double>(sixteen.at.back()) >= 0.95 * static_cast<double>(many.at.back()));
    CHECK(many.peak_bytes <= sixteen.peak_bytes);
    CHECK(many.most <= 20);
    for (const knob_choice& k : many.report.tuning.knobs) {
      CHECK(k.is_requested);
      CHECK(k.began == 1024);
      CHECK(k.value <= 16);
      CHECK(k.reason.find("of 1,024 requested calls in flight") != std::string::npos);
    }
  }
}

TEST_CASE("a requested parallelism is used as far as it helps") {
  // The source is fast, so the consumer's pace of 2 ms needs 100 calls of 200 ms.
  simulation world(1, {.cores = 4});
  runtime rt(world);
  calls all;
  outcome o;
  auto s = (range(3000) | map(work<200>(all), {.parallelism = 1024})).iterate(rt, {.seed = 1, .tune = true});
  sync_wait(rt, consume(world, s, milliseconds(2), o));
  o.report = s.report();
  sync_wait(rt, cleanup(std::move(s)));
  REQUIRE(o.at.size() == 3000);
  CAPTURE(all.most, o.report.tuning.knobs.front().reason);
  CHECK(all.most >= 100);
  CHECK(all.most <= 140);
  CHECK(o.at[2999] - o.at[2000] <= 2100);
}

TEST_CASE("costs that change by four are followed, down and up, without oscillation") {
  simulation world(1, {.cores = 4});
  runtime rt(world);
  struct call {
    simulation* world;
    task<int64> operator()(int64 x) const { return made(world, x); }
    static task<int64> made(simulation* world, int64 x) {
      const bool is_slow = world->elapsed() > std::chrono::seconds(5) && world->elapsed() < std::chrono::seconds(15);
      co_await sleep_for(milliseconds(is_slow ? 160 : 40));
      co_return x;
    }
  };
  outcome o;
  auto s = (range(100'000) | map(call{&world}, {.parallelism = autotune})).iterate(rt, {.seed = 1, .tune = true});
  std::vector<int64> took;
  auto consume_until = [](simulation& w, stream<int64>& from, outcome& to) -> task<void> {
    while (w.elapsed() < std::chrono::seconds(25)) {
      auto x = co_await from.next();
      if (!x) break;
      to.at.push_back(std::chrono::duration_cast<milliseconds>(w.elapsed()).count());
      co_await sleep_for(milliseconds(5));
    }
  };
  sync_wait(rt, consume_until(world, s, o));
  o.report = s.report();
  sync_wait(rt, cleanup(std::move(s)));
  auto between = [&o](int64 from, int64 to) {
    return std::count_if(o.at.begin(), o.at.end(), [&](int64 t) { return t >= from && t < to; });
  };
  CAPTURE(o.report.tuning.steps, o.report.tuning.changes, o.report.tuning.knobs.front().reason);
  CHECK(between(2000, 5000) >= 580);    // 600 at most
  CHECK(between(6000, 15000) >= 1740);  // 1,800: within a second of the change
  CHECK(between(16000, 25000) >= 1740);
  CHECK(o.report.tuning.changes >= 2);
  CHECK(o.report.tuning.steps <= 8);
  CHECK(o.report.tuning.knobs.front().value <= 12);
}

TEST_CASE("a deadlock in a simulation is detected while the run is tuned") {
  simulation world(1);
  runtime rt(world);
  auto never = from_channel<int64>({.elements = 4});  // nobody pushes
  calls none;
  auto ds = never.elements | map(work<20>(none), {.parallelism = autotune});
  auto s = ds.iterate(rt, {.seed = 1, .warm_start = true, .tune = true});
  int steps = 0;
  while (world.drive() == executor::driven::ran && steps < 10'000) ++steps;
  CHECK(steps < 10'000);
  CHECK(world.drive() == executor::driven::stuck);
  CHECK(s.report().tuning.looks > 10);
  sync_wait(rt, cleanup(std::move(s)));
}

}  // namespace sluice::lib::quiz_test
