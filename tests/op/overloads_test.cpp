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

TEST_CASE("a registered function of several values is called with them", "[op]") {
  CHECK(elements<double>("range(3) | map(volume_of(it, 2, 1.5))") == "0.0 3.0 6.0");
  CHECK(elements<std::string>(R"(range(3) | map(repeated_text("ab", it)))") == R"("" "ab" "abab")");
  CHECK(elements<int64>("range(5) | filter(are_equal(it % 2, 1))") == "1 3");
  CHECK(elements<std::string>(R"(range(2) | map(("x", it)) | map(repeated_text(first, second + 1)))") == R"("x" "xx")");
  CHECK(elements<bool>("range(2) | map((it, 1)) | map((it[0], int64(it[1]))) | map(are_equal)") == "false true");
  CHECK(refusal_of("range(3) | map(volume_of(it, \"a\", 1))") ==
        "column 30: map: volume_of: expects double, and \"a\" is string");
  CHECK(refusal_of("range(3) | map(volume_of(it, 1))") ==
        "column 16: map: volume_of takes (double, double, double), and gets (int64, int32)");
}

TEST_CASE("of functions of one name the one is called whose parameters fit", "[op]") {
  CHECK(elements<std::string>("range(2) | map(kind_of_value)") == R"("integer 0" "integer 1")");
  CHECK(elements<std::string>("range(2) | map(string(it)) | map(kind_of_value)") == R"("text 0" "text 1")");
  CHECK(elements<std::string>("range(2) | map(kind_of_value(it, string(it)))") == R"("0 and 0" "1 and 1")");
  CHECK(elements<std::string>("range(1) | map(kind_of_value(int8(it)))") == R"("integer 0")");
  CHECK(refusal_of("range(3) | map(kind_of_value(1.5))") ==
        "column 16: map: kind_of_value takes int64 or string or (int64, string), and gets double");
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
  CHECK(elements<bool>("range(4) | map(one_below(1000000, it) == one_below(1000000, it), seed=5)") ==
        "false false false false");
}

}  // namespace sluice::lib::overloads_test
