// SPDX-License-Identifier: Apache-2.0
// sluice/op/filter.hpp
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::filter_test {
namespace {

using namespace test;
using int64 = std::int64_t;

SLUICE_FUNCTION(is_third, [](const int64& x) { return x % 3 == 0; });

int64s thirds_of(const int64s& in) {
  int64s out;
  for (int64 x : in)
    if (x % 3 == 0) out.push_back(x);
  return out;
}

}  // namespace

TEST_CASE("filter conforms") {
  conforms({.stage = [](const auto& in) { return in | filter(is_third); },
            .expected = thirds_of,
            .before_error = thirds_of});
  conforms_for_elements(
      [](const auto& in) {
        using element = typename std::remove_cvref_t<decltype(in)>::value_type;
        return in | filter([n = std::make_shared<int>()](const element&) { return ++*n > 0; });
      },
      {.expected = [](const int64s& in) { return in; }, .before_error = [](const int64s& in) { return in; }});
}

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

TEST_CASE("filter conforms when it keeps nothing, and when it keeps all") {
  conforms({.stage = [](const auto& in) { return in | filter([](int64 x) { return x < 0; }); },
            .expected = [](const int64s&) { return int64s(); },
            .before_error = [](const int64s&) { return int64s(); }});
  conforms({.stage = [](const auto& in) { return in | filter([](int64 x) { return x >= 0; }); },
            .expected = [](const int64s& in) { return in; },
            .before_error = [](const int64s& in) { return in; }});
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

TEST_CASE("a filter whose predicate has a name prints as text, and is read again") {
  round_trips(*(range(5) | filter(is_third)).plan(), "range(5) | filter(is_third)");
}

}  // namespace sluice::lib::filter_test
