// SPDX-License-Identifier: Apache-2.0
// plan/expression_function.hpp: expressions as the functions of stages, from C++, plan text and JSON.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/consumption.hpp"
#include "support/plan_texts.hpp"

namespace sluice::lib::expressions_test {
namespace {

using namespace test;
using int64 = std::int64_t;

// --- As plans. ---

struct row {
  int64 label = 0;
  std::string text;
};
SLUICE_FUNCTION(row_of_number, [](int64 x) { return row{x, std::string(static_cast<std::size_t>(x), 'x')}; });
SLUICE_FUNCTION(halved, [](int64 x) { return x / 2; });
struct ticket {
  std::unique_ptr<int64> number;
  int64 copy = 0;
};

SLUICE_FUNCTION(of_missing_file, [](const std::string& path) -> result<std::string> {
  return not_found_error("is gone").in_file(path);
});

}  // namespace

TEST_CASE("a plan prints its expressions in one form, and reads them again", "[op]") {
  for (auto text : {"range(9) | filter(it % 2 == 0) | map({a: it, b: \"x\\n\\\"\" + string(it)})",
                    "range(9) | map((it, -it)) | map(it[1]) | map(let(x = it, x * x), parallelism=4)",
                    "range(9) | map(\"a\xff\" + string(it)) | filter(it != \"\xfe\")"}) {  // bytes that are not UTF-8
    node_ptr plan = parse_plan(text);
    CHECK(plan_text(*plan) == text);
    CHECK(same_plan(*plan, *parse_plan(plan_text(*plan))));
    node_ptr from_json = parse_plan_json(plan_json(*plan));
    CHECK(same_plan(*plan, *from_json));
    CHECK(fingerprint(*plan) == fingerprint(*from_json));
  }
  CHECK(plan_json(*parse_plan("range(3) | map(it + 1)")).find(R"({"expression":"it + 1"})") != std::string::npos);
  CHECK(fingerprint(*parse_plan("range(3) | map(it + 1)")) != fingerprint(*parse_plan("range(3)|map(it+2)")));
}

TEST_CASE("an expression that does not fit is refused with its column and both types", "[op]") {
  try {
    parse_plan_json(
        R"({"op":"map","arguments":{"function":{"expression":"it + \"a\""}},"inputs":[{"op":"range","arguments":{"stop":3}}]})");
    FAIL("it was read");
  } catch (const error& e) {
    CHECK(std::string(e.why().message()) ==
          "map: + expects two numbers or two texts; it is int64, and \"a\" is string (column 1 of the expression)");
  }
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

TEST_CASE("random() is drawn by seed and position", "[op]") {
  auto drawn = [](const char* plan) { return elements<int64>(plan); };
  CHECK(drawn("range(200) | map(random(1000), seed=3)") ==
        drawn("range(200) | map(random(1000), seed=3, parallelism=4)"));
  CHECK(drawn("range(200) | map(random(1000), seed=3)") != drawn("range(200) | map(random(1000), seed=4)"));
  // Passing over elements draws nothing, and changes nothing.
  std::string all = drawn("range(200) | map(random(1000), seed=3)"),
              tail = drawn("range(200) | map(random(1000), seed=3) | skip(100)");
  CHECK(all.ends_with(tail));
  std::string sample = drawn("range(10000) | filter(random() < 0.1, seed=5)");
  auto n = std::count(sample.begin(), sample.end(), ' ') + 1;
  CHECK(n > 850);
  CHECK(n < 1150);
  CHECK(sample == drawn("range(10000) | filter(random() < 0.1, seed=5)"));
  // Each call has numbers of its own; index() is the element's number.
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

}  // namespace sluice::lib::expressions_test
