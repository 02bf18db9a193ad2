// SPDX-License-Identifier: Apache-2.0
// sluice/op/rate_limit.hpp
#include <chrono>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::rate_limit_test {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;

/// When each element came, in virtual time.
template <class T>
task<std::vector<duration>> times_of(runtime& rt, simulation& world, dataset<T> ds, std::size_t pause_after,
                                     checkpoint from) {
  std::vector<duration> times;
  auto s = ds.iterate(rt, {.from = std::move(from)});
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    times.push_back(world.elapsed());
    if (times.size() == pause_after) co_await sleep_for(1h);
  }
  co_return times;
}
template <class T>
std::vector<duration> times(const dataset<T>& ds, std::size_t pause_after = 0, checkpoint from = {}) {
  simulation world(7);
  runtime rt(world);
  return sync_wait(rt, times_of(rt, world, ds, pause_after, std::move(from)));
}
std::vector<duration> ms(std::vector<int64> list) {
  std::vector<duration> all;
  for (int64 x : list) all.push_back(std::chrono::milliseconds(x));
  return all;
}

}  // namespace

TEST_CASE("elements come at the rate, a burst first and after a pause, and never more than that at once") {
  CHECK(times(range(5) | rate_limit({.elements_per_second = 100})) == ms({0, 10, 20, 30, 40}));
  CHECK(times(range(7) | rate_limit({.elements_per_second = 100, .burst = 3})) == ms({0, 0, 0, 10, 20, 30, 40}));
  // After the pause three are there at once, and then the rate again.
  constexpr int64 hour = 3'600'000;
  CHECK(times(range(9) | rate_limit({.elements_per_second = 100, .burst = 3}), 4) ==
        ms({0, 0, 0, 10, hour + 10, hour + 10, hour + 10, hour + 20, hour + 30}));
  // By default what comes in 10 ms: at 1000 a second ten.
  std::vector<duration> fast = times(range(30) | rate_limit({.elements_per_second = 1000}));
  CHECK(fast[9] == 0ms);
  CHECK(fast[10] == 1ms);
  CHECK(fast[29] == 20ms);
}

TEST_CASE("an input that is slower than the rate is not slowed down by it") {
  CHECK(times(range(4) | sleep(50ms) | rate_limit({.elements_per_second = 100})) == ms({50, 100, 150, 200}));
}

TEST_CASE("bytes arrive at the rate; an element above the burst goes alone, and is paid for afterwards") {
  auto numbers = range(5) | rate_limit({.bytes_per_second = 800, .burst = 16});  // of 8 bytes
  CHECK(times(numbers) == ms({0, 0, 10, 20, 30}));
  auto lists = range(3) | map([](int64) { return std::vector<char>(1000 - sizeof(std::vector<char>)); });
  CHECK(times(lists | rate_limit({.bytes_per_second = 1000, .burst = 500})) == ms({0, 1000, 2000}));
}

TEST_CASE("elements skipped by a skip or a resume cost no tokens") {
  CHECK(times(range(1000) | rate_limit({.elements_per_second = 10}) | skip(997)) == ms({0, 100, 200}));
  consumption by_blocks;
  by_blocks.skip = 500;
  by_blocks.ask_max = 5;
  by_blocks.pass_max = 100;
  CHECK(consume(range(1000) | rate_limit({.elements_per_second = 1e6, .burst = 50}), by_blocks).complaint() == "");
  auto ds = range(1000) | rate_limit({.elements_per_second = 10}) | shuffle(50, {.seed = 3});
  consumption how;
  how.save = true;
  how.elements_max = 900;
  how.ask_max = 1;
  consumed whole = consume(ds, how);
  REQUIRE(whole.complaint() == "");
  std::vector<duration> rest = times(ds, 0, whole.places[900]);
  REQUIRE(rest.size() == 100);
  CHECK(rest.back() < 30s);  // the shuffle's fifty are made again, not all that came before
}

TEST_CASE("a stop ends the wait for tokens") {
  consumption how;
  how.stop_after = 2;
  consumed got = consume(range(10) | rate_limit({.elements_per_second = 1e-3}), how);
  CHECK(got.mistake == "");
  CHECK(got.why.code() == status_code::cancelled);
}

}  // namespace sluice::lib::rate_limit_test
