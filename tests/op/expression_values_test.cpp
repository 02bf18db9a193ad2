// SPDX-License-Identifier: Apache-2.0
// Expressions in plans: literals, lists that become others, batches, and states that grow.
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/plan_texts.hpp"

namespace sluice::lib::expression_values_test {
namespace {

using namespace test;
using int64 = std::int64_t;

SLUICE_FUNCTION(weighted_sum, [](int64 x, const std::vector<double>& weights, const std::array<float, 2>& more) {
  return std::accumulate(weights.begin(), weights.end(), 0.0) * static_cast<double>(x) + static_cast<double>(more[1]);
});

struct maybe_row {
  std::optional<double> weight;
  std::vector<double> values;
  std::array<int64, 2> pair{};
};

}  // namespace

TEST_CASE("spellings of one number are one plan", "[op]") {
  auto print_of = [](const std::string& text) { return fingerprint(*parse_plan(text)); };
  CHECK(print_of("range(2) | map(it * 2000)") != print_of("range(2) | map(it * 2000.0)"));
  CHECK(print_of("range(2) | map(it * 1.5)") != print_of("range(2) | map(it * 1.5f)"));
}

TEST_CASE("a verb whose function makes a plan reports that an expression must be a list", "[op]") {
  std::string why = refusal_of("range(2) | flat_map(it + 1)");
  CHECK(
      why.find("flat_map: an expression that is opened for each element is a list or an array, and it + 1 is int64") !=
      std::string::npos);
}

TEST_CASE("lists and optionals convert without loss", "[op]") {
  CHECK(elements<std::vector<double>>(range(2) | map(expr<std::vector<double>>("[it, it + 1]"))) ==
        "[0.0,1.0] [1.0,2.0]");
  CHECK(elements<std::array<double, 2>>(range(2) | map(expr<std::array<double, 2>>("[it, 1]"))) ==
        "[0.0,1.0] [1.0,1.0]");
  auto lists = range(2) | map(expr<std::vector<std::int32_t>>("[1, 2]"));
  CHECK(elements<std::vector<double>>(lists | map(expr<std::vector<double>>("it"))) == "[1.0,2.0] [1.0,2.0]");
  CHECK(elements<std::vector<int64>>(range(1) | map(expr<std::array<std::int32_t, 2>>("[1, 2]")) |
                                     map(expr<std::vector<int64>>("it"))) == "[1,2]");
  CHECK(elements<maybe_row>(range(2) |
                            map(expr<maybe_row>("{weight: if(it == 0, none, it), values: [it], pair: [1, it]}"))) ==
        R"({"weight":null,"values":[0.0],"pair":[1,0]} {"weight":1.0,"values":[1.0],"pair":[1,1]})");
  CHECK(elements<std::optional<double>>(range(2) | map(expr<std::optional<std::int32_t>>("if(it == 0, none, 7)")) |
                                        map(expr<std::optional<double>>("it"))) == "null 7.0");
  CHECK_THROWS_WITH((range(1) | map(expr<std::array<double, 3>>("[it, it]"))),
                    Catch::Contains("expected double[3], and [it, it] is int64[]"));
  CHECK_THROWS_WITH((lists | map(expr<std::vector<std::int8_t>>("it"))),
                    Catch::Contains("expected int8[], and it is int32[]"));
}

TEST_CASE("an initial state over the limit is refused", "[op]") {
  std::string initial = refusal_of("range(2) | scan(replace(replace(\"" + std::string(2000, 'a') + "\", \"a\", \"" +
                                   std::string(30, 'b') + "\"), \"b\", \"" + std::string(30, 'c') + "\"), state)");
  CHECK(initial.find("the function's state takes 1800003 bytes") != std::string::npos);
}

}  // namespace sluice::lib::expression_values_test
