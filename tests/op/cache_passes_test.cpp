// SPDX-License-Identifier: Apache-2.0
// Caches of inputs without a fixed order: each pass over such an input has an order of its own.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"

namespace sluice::lib::cache_passes_test {
namespace {

using namespace test;
using int64 = std::int64_t;
using int64s = std::vector<int64>;

constexpr int64 kElements = 60;

struct slow_numbers {
  struct shared {
    std::atomic<int> passes = 0;
    std::atomic<bool> fails = false;
  };
  std::shared_ptr<shared> state = std::make_shared<shared>();

  /// In each pass another element is late; element 20 fails if `fails` is set.
  static task<int64> number(std::shared_ptr<shared> now, int64 x) {
    if (x == 0) ++now->passes;
    const bool is_late = x == now->passes * 7 % 20;
    auto pause = sleep_for(std::chrono::microseconds(is_late ? 500 : 1 + x * 37 % 11));
    co_await pause;
    if (x == 20 && now->fails) throw std::runtime_error("the disk is gone");
    co_return x;
  }
  dataset<int64> cached() const {
    return range(kElements) |
           map([now = state](int64 x) { return number(now, x); }, {.parallelism = 4, .order = order::sloppy}) | cache();
  }
};

int64s sorted(int64s v) {
  std::sort(v.begin(), v.end());
  return v;
}
int64s all_elements() {
  int64s all(kElements);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

task<int64s> rest_of(stream<int64> s) {
  int64s got;
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    got.push_back(*x);
  }
  co_return got;
}
task<std::vector<int64s>> at_the_same_time(std::vector<task<int64s>> runs) {
  auto joined = when_all(std::move(runs));
  co_return co_await joined;
}

/// Returns the position of a stream whose next element fails; `why` is the error.
task<checkpoint> place_after_error(stream<int64> s, status& why) {
  auto x = co_await s.try_next();
  why = x.why;
  co_return s.position();
}

}  // namespace

TEST_CASE("without a fixed order streams at the same time deliver each element once, and so does the cache") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(50); ++seed) {
    CAPTURE(seed);
    simulation world(seed, {.cores = 2});
    runtime rt(world);
    const auto ds = slow_numbers().cached();
    std::vector<task<int64s>> runs;
    for (int k = 0; k != 3; ++k) runs.push_back(rest_of(ds.iterate(rt, {.seed = 1})));
    for (int64s& got : sync_wait(rt, at_the_same_time(std::move(runs))))
      CHECK(sorted(std::move(got)) == all_elements());
    CHECK(sorted(sync_wait(rt, rest_of(ds.iterate(rt, {.seed = 1})))) == all_elements());
  }
}

TEST_CASE("without a fixed order an error among elements that are only cached leaves a position at the next element") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(50); ++seed) {
    CAPTURE(seed);
    simulation world(seed, {.cores = 2});
    runtime rt(world);
    const slow_numbers numbers;
    const auto ds = numbers.cached() | skip(40);
    numbers.state->fails = true;
    status why;
    const checkpoint place = sync_wait(rt, place_after_error(ds.iterate(rt, {.seed = 1}), why));
    CHECK(why.to_string().find("the disk is gone") != std::string::npos);
    numbers.state->fails = false;
    const int64s rest = sync_wait(rt, rest_of(ds.iterate(rt, {.from = place})));
    CHECK(rest.size() == 20);
    const int64s all = sync_wait(rt, rest_of(numbers.cached().iterate(rt, {.seed = 1})));
    CHECK(sorted(all) == all_elements());
  }
}

}  // namespace sluice::lib::cache_passes_test
