// SPDX-License-Identifier: Apache-2.0
// sluice/op/filter.hpp
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::filter_test {
using namespace test;
using int64 = std::int64_t;

TEST_CASE("a remainder that is compared with 0 is C++'s, for negative numbers and powers of two as well") {
  for (int64 by : {1, 2, 3, 4, 7, 64}) {
    int64s even, odd;
    for (int64 x = -70; x != 71; ++x) (x % by == 0 ? even : odd).push_back(x);
    const std::string remainder = "it % " + std::to_string(by);
    auto numbers = range(71, {.start = -70});
    CHECK(consume(numbers | filter(expr(remainder + " == 0")), {}).elements == even);
    CHECK(consume(numbers | filter(expr(remainder + " != 0")), {}).elements == odd);
    CHECK(consume(numbers | filter(expr("0 == " + remainder)), {}).elements == even);
  }
}

namespace {

task<std::uint64_t> count_of(any_stream s, demand each) {
  std::uint64_t n = 0;
  for (;;) {
    auto b = co_await s.next_block(each);
    if (!b) break;
    n += b.size();
    each.skip = 0;
  }
  co_return n;
}

}  // namespace

TEST_CASE("the largest possible demand, with a skip, does not overflow") {
  simulation world(1);
  runtime rt(world);
  auto plan = range(100) | filter([](int64) { return true; });
  CHECK(sync_wait(rt, count_of(open_run(rt, plan.plan()), {.skip = 1, .elements = ~0u})) == 99);
}

TEST_CASE("filter moves elements that own memory, and loses none") {
  auto ds = range(100) | map([](int64 x) { return std::string(40, 'x') + std::to_string(x); }) |
            filter([](const std::string& s) { return s.back() == '7'; }) |
            map([](const std::string& s) { return static_cast<int64>(std::stoll(s.substr(40))); });
  CHECK(consume(ds, {}).elements == int64s{7, 17, 27, 37, 47, 57, 67, 77, 87, 97});
}

}  // namespace sluice::lib::filter_test
