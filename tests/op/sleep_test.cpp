// SPDX-License-Identifier: Apache-2.0
// sluice/op/sleep.hpp
#include <chrono>
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

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

TEST_CASE("sleep conforms for elements of every kind, and asks for no more than it needs") {
  auto all = [](const int64s& in) { return in; };
  conforms_for_elements([](const auto& in) { return in | sleep(10us); },
                        {.expected = all, .before_error = all, .needs = one_each});
}

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

TEST_CASE("sleep prints its time, reads it in any unit, and refuses other texts; its time is a knob") {
  round_trips(*(range(5) | sleep(10ms)).plan(), "range(5) | sleep(10ms)");
  round_trips(*(range(5) | sleep(90min)).plan(), "range(5) | sleep(90min)");
  for (auto [text, printed] : {std::pair{"1.5s", "1500ms"},
                               {"0.25 h", "15min"},
                               {"0s", "0s"},
                               {"2m", "2min"},
                               {"250us", "250us"},
                               {"7ns", "7ns"},
                               {"36e5ms", ""}}) {
    CAPTURE(text);
    std::string plan = "range(5) | sleep(\"" + std::string(text) + "\")";
    if (*printed) CHECK(plan_text(*parse_plan(plan)) == "range(5) | sleep(" + std::string(printed) + ")");
    else CHECK_THROWS_WITH(parse_plan(plan), Catch::Contains("expects a time, such as 10ms"));
  }
  CHECK_THROWS_WITH(range(3) | sleep(-1s), Catch::Contains("must be at least 0, and is -1000000000ns"));
  CHECK(fingerprint(*(range(5) | sleep(10ms)).plan()) == fingerprint(*(range(5) | sleep(20ms)).plan()));
}

}  // namespace sluice::lib::sleep_test
