// SPDX-License-Identifier: Apache-2.0
// The figures of the documents that this project starts from (a tf.data talk, guide and tutorial), in virtual time, so
// that they hold to the nanosecond. What a figure does not fix, which of two things due at one moment goes first, is
// drawn from the seed: every figure must hold under each.
#include <chrono>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"

namespace sluice::lib::seed_figures_test {
namespace {

using std::chrono::milliseconds;
using milliseconds_each = std::vector<std::int64_t>;

/// Takes `Ms` milliseconds for an element.
template <int Ms> task<std::int64_t> work(std::int64_t x) {
  co_await sleep_for(milliseconds(Ms));
  co_return x;
}

/// What happens between two elements: a step of the consumer, and once, after element `after`, a stall.
struct consumer {
  milliseconds step{0};
  std::size_t stall_after = ~std::size_t{0};
  milliseconds stall{0};
};

/// Asks for one element at a time, as the documents' consumers do: next() asks for more when the last came quickly.
task<milliseconds_each> wait_times(const simulation& world, any_stream s, consumer c, std::size_t count) {
  milliseconds_each waited;
  while (waited.size() < count) {
    auto asked = world.elapsed();
    auto one = co_await s.next_block({.elements = 1});
    if (!one) break;
    waited.push_back(std::chrono::duration_cast<milliseconds>(world.elapsed() - asked).count());
    co_await sleep_for(c.step);
    if (waited.size() == c.stall_after + 1) co_await sleep_for(c.stall);
  }
  co_return waited;
}

/// How long the consumer waits for each of the first `count` elements.
milliseconds_each waits(std::uint64_t seed, const dataset<std::int64_t>& ds, std::size_t count, consumer c = {}) {
  simulation world(seed);
  runtime rt(world);
  return sync_wait(rt, wait_times(world, open_run(rt, ds.plan()), c, count));
}

milliseconds_each first_then(std::int64_t first, std::int64_t others, std::size_t count) {
  milliseconds_each v(count, others);
  v[0] = first;
  return v;
}

// The tutorial's generators. Each takes what it needs as a parameter: a coroutine must not capture.
stream<std::int64_t> generator() {
  for (std::int64_t i = 0; i != 40; ++i) {
    co_await sleep_for(milliseconds(300));
    co_yield i;
  }
}
stream<std::int64_t> slices_of(std::int64_t image) {
  for (std::int64_t i = 0; i != 5; ++i) {
    co_await sleep_for(milliseconds(300));
    co_yield 10 * image + i;
  }
}
stream<std::int64_t> images(std::int64_t scanner) {
  for (int round = 0; round != 3; ++round) {
    co_await sleep_for(milliseconds(1500));
    co_yield std::int64_t(scanner);
  }
}
stream<std::int64_t> images_and_slices(std::int64_t scanner) {
  for (int round = 0; round != 3; ++round) {
    co_await sleep_for(milliseconds(1500));
    for (std::int64_t i = 0; i != 5; ++i) {
      co_await sleep_for(milliseconds(300));
      co_yield 10 * scanner + i;
    }
  }
}

template <stream<std::int64_t> (*Generator)(std::int64_t)> dataset<std::int64_t> generated_from(std::int64_t argument) {
  return generate([argument] { return Generator(argument); });
}

constexpr interleave_options kThreeAtOnce{.cycle_length = 3, .parallelism = 3};
constexpr consumer kModel{.step = milliseconds(100)};

/// 45 elements, the first after 1.8 s, every 15th after that with a lag, the rest at once.
milliseconds_each with_lag(std::int64_t lag) {
  milliseconds_each v(45, 0);
  v[0] = 1800;
  v[15] = v[30] = lag;
  return v;
}

template <class Check> void under_each_seed(Check check) {
  std::uint64_t first = test::first_seed();
  for (std::uint64_t seed = first; seed != first + test::cases(25); ++seed) {
    CAPTURE(seed);
    check(seed);
  }
}

}  // namespace

TEST_CASE("stages of 20, 100 and 200 ms take 320 ms an element one after the other") {
  auto ds = range(12) | map(work<20>) | map(work<100>) | map(work<200>);
  under_each_seed([&](std::uint64_t seed) { CHECK(waits(seed, ds, 12) == first_then(320, 320, 12)); });
}

TEST_CASE("stages of 20, 100 and 200 ms take 200 ms an element as a pipeline") {
  auto ds = range(12) | map(work<20>) | prefetch(1) | map(work<100>) | prefetch(1) | map(work<200>);
  under_each_seed([&](std::uint64_t seed) { CHECK(waits(seed, ds, 12) == first_then(320, 200, 12)); });
}

TEST_CASE("stages of 20, 100 and 200 ms take 20 ms an element with enough parallelism") {
  auto ds = range(60) | map(work<20>) | map(work<100>, {.parallelism = 6}) | map(work<200>, {.parallelism = 11});
  under_each_seed([&](std::uint64_t seed) { CHECK(waits(seed, ds, 60) == first_then(320, 20, 60)); });
}

TEST_CASE("a step of 0.1 s waits the generator's whole 0.3 s without prefetch, and 0.2 s with") {
  under_each_seed([&](std::uint64_t seed) {
    CHECK(waits(seed, generate(generator), 10, kModel) == first_then(300, 300, 10));
    CHECK(waits(seed, generate(generator) | prefetch(1), 10, kModel) == first_then(300, 200, 10));
  });
}

TEST_CASE(
    "a stall of 3 s filled by prefetch(10) makes the next ten steps cost nothing, and by prefetch(1) the next one") {
  consumer stalled{.step = milliseconds(100), .stall_after = 3, .stall = milliseconds(3000)};
  under_each_seed([&](std::uint64_t seed) {
    milliseconds_each one = waits(seed, generate(generator) | prefetch(1), 20, stalled);
    milliseconds_each expected = first_then(300, 200, 20);
    expected[4] = 0;
    CHECK(one == expected);

    milliseconds_each ten = waits(seed, generate(generator) | prefetch(10), 30, stalled);
    CHECK(milliseconds_each(ten.begin(), ten.begin() + 4) == first_then(300, 200, 4));
    CHECK(milliseconds_each(ten.begin() + 4, ten.begin() + 14) == milliseconds_each(10, 0));
    CHECK(milliseconds_each(ten.end() - 10, ten.end()) == milliseconds_each(10, 200));  // it does not last
  });
}

TEST_CASE("three generators of 0.3 s at once keep up with a step of 0.1 s") {
  auto ds = range(3) | interleave(generated_from<slices_of>, kThreeAtOnce);
  under_each_seed([&](std::uint64_t seed) { CHECK(waits(seed, ds, 15, kModel) == first_then(300, 0, 15)); });
}

TEST_CASE("loading and slicing in one generator lags 1.5 s after every 15 slices") {
  auto ds = range(3) | interleave(generated_from<images_and_slices>, kThreeAtOnce);
  under_each_seed([&](std::uint64_t seed) { CHECK(waits(seed, ds, 45, kModel) == with_lag(1500)); });
}

TEST_CASE("loading and slicing in a stage each lags 0.3 s after every 15 slices, and with prefetch not at all") {
  auto ds =
      range(3) | interleave(generated_from<images>, kThreeAtOnce) | interleave(generated_from<slices_of>, kThreeAtOnce);
  under_each_seed([&](std::uint64_t seed) {
    CHECK(waits(seed, ds, 45, kModel) == with_lag(300));
    CHECK(waits(seed, ds | prefetch(15), 45, kModel) == with_lag(0));
  });
}

}  // namespace sluice::lib::seed_figures_test
