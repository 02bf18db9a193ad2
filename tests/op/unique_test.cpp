// SPDX-License-Identifier: Apache-2.0
// sluice/op/unique.hpp
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s first_of_each(const int64s& in) {
  int64s out;
  std::set<int64> seen;
  for (int64 x : in)
    if (seen.insert(x).second) out.push_back(x);
  return out;
}

// Of elements that are often equal: of each its remainder.
const register_verb unique_case(
    "unique",
    {.build = [](const verb_plan& p) { return p.in[0] | map([a = p.a](int64 x) { return x % (a + 2); }) | unique(); },
     .expected =
         [](const verb_lists& l) {
           int64s in = l.in();
           for (int64& x : in) x %= l.a + 2;
           return first_of_each(in);
         },
     .resume = {.takes = 0}});

}  // namespace

TEST_CASE("unique conforms for numbers, texts, records, structs of tensors") {
  auto repeated = [](const int64s& in) {
    int64s out = in;
    for (int64& x : out) x /= 3;
    return first_of_each(out);
  };
  auto third = [](int64 x) { return x / 3; };
  conformance c{.stage = [third](const auto& in) { return in | map(third) | unique(); }, .expected = repeated};
  conforms(c);
  conforms_as<as_text>([](const auto& in) { return in | unique(); }, {.expected = first_of_each});
  conforms_as<as_tensor>([](const auto& in) { return in | unique(); }, {.expected = first_of_each});
}

TEST_CASE("unique compares values") {
  CHECK(elements<int64>("range(30) | map({a: it % 3, b: [it % 2, 1]}) | unique() | map(a * 10 + b[0])") ==
        "0 11 20 1 10 21");
  std::vector<std::string> texts = {"a", "", std::string("a\0", 2), "a", "b", ""};
  CHECK(elements(from_elements(texts) | unique()) == "\"a\" \"\" \"a\\u0000\" \"b\"");
  std::vector<std::pair<std::string, std::string>> pairs = {{"a", "bc"}, {"ab", "c"}, {"a", "bc"}};
  CHECK(elements(from_elements(pairs) | unique()) == "[\"a\",\"bc\"] [\"ab\",\"c\"]");
  CHECK(elements(from_elements(std::vector<double>{0.0, -0.0, 1.5, 0.0, NAN, NAN}) | unique()) == "0 -0 1.5 \"NaN\"");
}

TEST_CASE("unique says when its hashes exceed the memory budget, and how many there are") {
  runtime rt({.workers = 1, .memory_budget_bytes = 1 << 20});
  consumed c = consume_on(rt, range(1'000'000) | unique(), {});
  CHECK(c.why.code() == status_code::resource_exhausted);
  CHECK_THAT(c.why.to_string(), Catch::Contains("unique: with") && Catch::Contains("the hashes of its") &&
                                    Catch::Contains("different elements"));
  CHECK(c.elements.size() > 10'000);
  CHECK(consume_on(rt, range(1'000'000) | map([](int64 x) { return x % 1000; }) | unique(), {}).elements.size() ==
        1000);
}

TEST_CASE("unique prints as text, and is read again; elements that cannot be compared are refused") {
  round_trips(*(range(10) | unique()).plan(), "range(10) | unique");
  CHECK_THROWS_WITH(range(3) | map([](int64) { return std::unique_ptr<int>(); }) | unique(),
                    Catch::Contains("cannot be compared"));
}

}  // namespace sluice::lib
