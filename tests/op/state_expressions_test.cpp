// SPDX-License-Identifier: Apache-2.0
// scan and reduce by expressions: what the state is, what is refused, and resuming. tests/op/expressions_test.cpp has them in
// the suites of all operators.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/plan_texts.hpp"

namespace sluice::lib::state_expressions_test {
namespace {

using namespace test;
using int64 = std::int64_t;

struct sums {
  double total = 0;
  int64 n = 0;
};
SLUICE_FUNCTION(running_total, [](int64& sum, int64 x) { return sum += x; });

}  // namespace

TEST_CASE("a reduce by an expression gives its last state", "[op]") {
  CHECK(elements<double>(range(4) | reduce(expr<double>("0"), expr("state + it"))) == "6.0");
  CHECK(elements<sums>(range(4) |
                       reduce(expr<sums>("{total: 0, n: 0}"), expr("{n: state.n + 1, total: state.total + it}"))) ==
        R"({"total":6.0,"n":4})");
}

TEST_CASE("plans with states print, and read back", "[op]") {
  CHECK(fingerprint(*parse_plan("range(9) | scan(0, state + it)")) !=
        fingerprint(*parse_plan("range(9) | scan(1, state + it)")));
  CHECK(plan_json(*parse_plan("range(3) | scan(0, state + it)")).find(R"("initial":{"expression":"0"})") !=
        std::string::npos);
}

}  // namespace sluice::lib::state_expressions_test
