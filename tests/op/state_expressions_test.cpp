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

TEST_CASE("elements are grouped by the value of an expression", "[op]") {
  // In the order of the keys: negative numbers first, texts by their bytes, pairs by their first value.
  for (auto text : {"range(9) | group_by_reducer(it % 2, 0, state + it)",
                    "range(9) | group_by_reducer(string(it), {n: 0}, {n: state.n + 1})"}) {
    node_ptr plan = parse_plan(text);
    CHECK(plan_text(*plan) == text);
    CHECK(fingerprint(*plan) == fingerprint(*parse_plan_json(plan_json(*plan))));
  }
}

TEST_CASE("plans with states print, and read back", "[op]") {
  for (auto text : {"range(9) | scan(0, state + it)", "range(9) | reduce({n: 0}, {n: state.n + 1})",
                    "range(9) | scan(\"a\\\"b\", state + string(it)) | reduce(0, state + length(it))",
                    "range(9) | scan(running_total)", "range(9) | scan(running_total, initial_state=\"0005\")"}) {
    INFO(text);
    node_ptr plan = parse_plan(text);
    CHECK(plan_text(*plan) == text);
    CHECK(same_plan(*plan, *parse_plan(plan_text(*plan))));
    node_ptr from_json = parse_plan_json(plan_json(*plan));
    CHECK(same_plan(*plan, *from_json));
    CHECK(fingerprint(*plan) == fingerprint(*from_json));
  }
  CHECK(fingerprint(*parse_plan("range(9) | scan(0, state + it)")) !=
        fingerprint(*parse_plan("range(9) | scan(1, state + it)")));
  CHECK(plan_json(*parse_plan("range(3) | scan(0, state + it)")).find(R"("initial":{"expression":"0"})") !=
        std::string::npos);
}

}  // namespace sluice::lib::state_expressions_test
