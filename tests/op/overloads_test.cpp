// SPDX-License-Identifier: Apache-2.0
// Functions of several values, and several functions of a name, in expressions.
#include <cstdint>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/plan_texts.hpp"

namespace sluice::lib::overloads_test {
namespace {

using namespace test;
using int64 = std::int64_t;

SLUICE_FUNCTION(volume_of, [](double w, double h, double d) { return w * h * d; });
SLUICE_FUNCTION(repeated_text, [](const std::string& text, int64 n) {
  std::string out;
  for (int64 i = 0; i != n; ++i) out += text;
  return out;
});
SLUICE_FUNCTION(one_below, [](int64 below, int64 plus, random_source& random) {
  return static_cast<int64>(random.below(static_cast<std::uint64_t>(below))) + plus;
});
SLUICE_FUNCTION(are_equal, [](int64 a, int64 b) { return a == b; });

SLUICE_OVERLOAD("kind_of_value", 1, [](const int64& x) { return "integer " + std::to_string(x); });
SLUICE_OVERLOAD("kind_of_value", 1, [](const std::string& s) { return "text " + s; });
SLUICE_OVERLOAD("kind_of_value", 1, [](int64 a, const std::string& b) { return std::to_string(a) + " and " + b; });

}  // namespace

TEST_CASE("of functions of one name the one is called whose parameters fit", "[op]") {
  for (auto text : {"range(2) | map(kind_of_value)", "range(2) | map(kind_of_value(it, string(it)))"}) {
    node_ptr plan = parse_plan(text);
    CHECK(plan_text(*plan) == text);
    CHECK(fingerprint(*plan) == fingerprint(*parse_plan_json(plan_json(*plan))));
  }
  CHECK_THROWS_WITH(register_overload("kind_of_value", 2, [](double) { return 1; }),
                    Catch::Contains("kind_of_value is registered twice, as version 1 and as version 2"));
}

TEST_CASE("functions that draw in an expression draw by position, each call for itself", "[op]") {
  std::string once = elements<int64>("range(6) | map(one_below(1000000, it * 0), seed=5)");
  CHECK(once == elements<int64>("range(6) | map(one_below(1000000, it * 0), parallelism=3, seed=5)"));
  CHECK(once != elements<int64>("range(6) | map(one_below(1000000, it * 0), seed=6)"));
  // Two calls in one expression have different numbers.
}

}  // namespace sluice::lib::overloads_test
