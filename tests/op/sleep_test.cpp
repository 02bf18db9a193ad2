// SPDX-License-Identifier: Apache-2.0
// sluice/op/sleep.hpp
#include <chrono>
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::sleep_test {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;

task<int64> count_of(runtime& rt, dataset<int64> ds) {
  auto s = ds.iterate(rt);
  int64 n = 0;
  while (auto x = co_await s.next()) n += *x >= 0;
  co_return n;
}
/// The virtual time that a run of all elements takes.
duration time_of(const dataset<int64>& ds) {
  simulation world(7);
  runtime rt(world);
  sync_wait(rt, count_of(rt, ds));
  return world.elapsed();
}

}  // namespace

TEST_CASE("sleep waits for each element, and for neither skipped ones nor the end") {
  CHECK(time_of(range(5) | sleep(1h)) == 5h);
  CHECK(time_of(range(5) | sleep(0s)) == 0s);
  CHECK(time_of(range(1000) | sleep(1h) | skip(997)) == 3h);
  CHECK(time_of(range(0) | sleep(1h)) == 0h);
  CHECK(time_of(range(4) | sleep(10ms) | prefetch(2) | sleep(10ms)) < 80ms);  // both at a time
}

TEST_CASE("a stop ends a pause") {
  consumption how;
  how.stop_after = 2;
  consumed got = consume(range(10) | sleep(1h), how);
  CHECK(got.mistake == "");
  CHECK(got.why.code() == status_code::cancelled);
}

TEST_CASE("a negative time is refused") {
  CHECK_THROWS_WITH(range(3) | sleep(-1s), Catch::Contains("must be at least 0, and is -1000000000ns"));
}

}  // namespace sluice::lib::sleep_test
