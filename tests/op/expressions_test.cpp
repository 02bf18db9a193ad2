// SPDX-License-Identifier: Apache-2.0
// plan/expression_function.hpp: expressions as the functions of stages, from C++, plan text and JSON.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/plan_texts.hpp"

namespace sluice::lib::expressions_test {
namespace {

using namespace test;
using int64 = std::int64_t;

struct row {
  int64 label = 0;
  std::string text;
};
struct ticket {
  std::unique_ptr<int64> number;
  int64 copy = 0;
};

SLUICE_FUNCTION(of_missing_file, [](const std::string& path) -> result<std::string> {
  return not_found_error("is gone").in_file(path);
});

struct sums {
  double total = 0;
  int64 n = 0;
};
struct maybe_row {
  std::optional<double> weight;
  std::vector<double> values;
  std::array<int64, 2> pair{};
};

SLUICE_OVERLOAD("kind_of_value", 1, [](const int64& x) { return "integer " + std::to_string(x); });

}  // namespace

TEST_CASE("a plan prints bytes in its expressions that are not UTF-8, and reads them again", "[op]") {
  const char* text = "range(9) | map(\"a\xff\" + string(it)) | filter(it != \"\xfe\")";
  round_trips(*parse_plan(text), text);
}

TEST_CASE("in C++ expressions and functions can be mixed", "[op]") {
  auto rows = range(6) | map([](int64 x) { return row{x, std::string(static_cast<std::size_t>(x), 'x')}; });
  CHECK(elements(rows | filter(expr("label % 2 == 1")) | map([](const row& r) { return r.text; })) ==
        R"("x" "xxx" "xxxxx")");
  CHECK(elements(rows | map(expr<double>("label / 2.0"), {.parallelism = 2}), true) == "0.0 0.5 1.0 1.5 2.0 2.5");
  CHECK(elements(rows | map(expr<row>("{text: text + \"!\", label: label + 1}")) | filter(expr("label < 3"))) ==
        R"({"label":1,"text":"!"} {"label":2,"text":"x!"})");
  CHECK_THROWS_WITH(rows | filter(expr("label")),
                    Catch::Contains("column 1: filter: the condition must be bool, and label is int64"));
  CHECK_THROWS_WITH(rows | map(expr<int64>("text")),
                    Catch::Contains("column 1: map: expected int64, and text is string"));
  CHECK_THROWS_WITH(rows | map(expr<row>("{label: 1}")), Catch::Contains("expected row"));
  CHECK_THROWS_WITH(expr("1 +"), Catch::Contains("column 4: expected a value"));
}

TEST_CASE("an element that cannot be copied is moved by an expression that uses it once", "[op]") {
  auto tickets = range(4) | map([](int64 x) { return ticket{std::make_unique<int64>(x), x}; });
  CHECK(elements(tickets | filter(expr("copy > 1")) | map([](ticket t) { return *t.number; })) == "2 3");
  CHECK(elements(tickets | map(expr<ticket>("{number, copy: copy * 10}")) |
                 map([](ticket t) { return *t.number + t.copy; })) == "0 11 22 33");
  CHECK_THROWS_WITH(tickets | map(expr<std::pair<std::unique_ptr<int64>, std::unique_ptr<int64>>>("(number, number)")),
                    Catch::Contains("cannot be copied; it can be used once"));
}

TEST_CASE("an error of an expression keeps the function's code and file, and names an element that is a text") {
  const auto told = [](const dataset<std::string>& ds) {
    return consume(ds | map([](const std::string& s) { return static_cast<std::int64_t>(s.size()); }), {}).why;
  };
  const status missing =
      told(from_elements<std::string>({"/nowhere/at.all"}) | map(expr<std::string>("of_missing_file(it)")));
  CHECK(missing.code() == status_code::not_found);
  CHECK(missing.where().file == "/nowhere/at.all");
  const auto numbers =
      from_elements<std::string>({"photo.jpg"}) | map(expr<std::int64_t>("length(it) / (length(it) - 9)"));
  CHECK_THAT(consume(numbers, {}).why.to_string(), Catch::Contains("division by zero (of \"photo.jpg\")"));
}

TEST_CASE("a reduce by an expression gives its last state", "[op]") {
  CHECK(elements<double>(range(4) | reduce(expr<double>("0"), expr("state + it"))) == "6.0");
  CHECK(elements<sums>(range(4) |
                       reduce(expr<sums>("{total: 0, n: 0}"), expr("{n: state.n + 1, total: state.total + it}"))) ==
        R"({"total":6.0,"n":4})");
}

TEST_CASE("lists and optionals become what is wanted, without loss", "[op]") {
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
                    Catch::Contains("expected int8[], and `it` is int32[]"));
}

TEST_CASE("an initial state over the limit is refused", "[op]") {
  std::string initial = refusal_of("range(2) | scan(replace(replace(\"" + std::string(2000, 'a') + "\", \"a\", \"" +
                                   std::string(30, 'b') + "\"), \"b\", \"" + std::string(30, 'c') + "\"), state)");
  CHECK(initial.find("the function's state takes 1800003 bytes") != std::string::npos);
}

TEST_CASE("overloads of one function have one version", "[op]") {
  CHECK_THROWS_WITH(register_overload("kind_of_value", 2, [](double) { return 1; }),
                    Catch::Contains("kind_of_value is registered twice, as version 1 and as version 2"));
}

}  // namespace sluice::lib::expressions_test
