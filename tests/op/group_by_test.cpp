// SPDX-License-Identifier: Apache-2.0
// sluice/op/group_by.hpp, src/engine/expressions/expression_aggregates.cpp
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::group_by_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

struct tens_row {
  int64 total = 0;  // members may stand in any order
  int64 key = 0;
  int64 n = 0;
};
int64 number_of_tens(const tens_row& r) { return number_of(number_of(r.key, r.n), r.total); }

int64s tens_of(const int64s& in) {
  std::map<int64, tens_row> groups;
  for (int64 x : in) {
    tens_row& r = groups[x / 10];
    r.key = x / 10;
    ++r.n;
    r.total += x;
  }
  int64s out;
  for (auto& [key, r] : groups) out.push_back(number_of_tens(r));
  return out;
}

struct row {
  std::string city;
  std::optional<int64> age;
};
struct city_row {
  std::string city;
  int64 n = 0;
  std::optional<double> mean_age;
};

}  // namespace

TEST_CASE("group_by conforms") {
  auto nothing = [](const int64s&) { return int64s(); };
  auto all = [](const int64s& in, std::size_t k) { return k ? in.size() : 0; };
  const auto aggregates = expr<tens_row>("{n: count(), total: sum(it)}");
  conforms({.stage = [=](const auto& in) { return in | group_by(expr("it / 10"), aggregates) | map(number_of_tens); },
            .expected = tens_of,
            .before_error = nothing,
            .needs = all});
  auto tens = [](int64 x) { return x / 10; };
  conforms(
      {.stage = [=](const auto& in) { return in | group_by(tens, aggregates) | map(number_of_tens) | prefetch(2); },
       .expected = tens_of,
       .before_error = nothing});
}

TEST_CASE("group_by fills a struct by the names of its members") {
  const dataset<row> rows = from_elements(std::vector<row>{{"b", 4}, {"a", {}}, {"b", 6}, {"a", {}}, {"b", {}}});
  auto number = [](const city_row& r) {
    return static_cast<int64>(r.city[0]) * 1000 + r.n * 100 + static_cast<int64>(r.mean_age.value_or(99));
  };
  const auto made = rows | group_by(expr("city"), expr<city_row>("{n: count(), mean_age: mean(age)}"));
  consumed got = consume(made | map(number), {});
  CHECK(got.complaint() == "");
  CHECK(got.elements == int64s{97'299, 98'305});
  CHECK_THROWS_WITH(rows | group_by(expr("city"), expr<city_row>("{n: count(), mean_age: count(age)}")),
                    Contains("mean_age is int64, and in") && Contains("it is double?"));
  CHECK_THROWS_WITH(rows | group_by(expr("city"), expr<city_row>("{n: count()}")), Contains("2 members"));
}

TEST_CASE("group_by resumes within its groups, also where they are too large for a position") {
  for (int64 keys : {5, 70'000}) {
    consumption how;
    how.save = true;
    const auto all = range(140'000) |
                     group_by(expr("it % " + std::to_string(keys)), expr<tens_row>("{n: count(), total: sum(it)}")) |
                     map(number_of_tens) | skip(keys - 3);
    consumed whole = consume(all, how);
    REQUIRE(whole.complaint() == "");
    REQUIRE(whole.elements.size() == 3);
    how.from = whole.places[1];
    consumed rest = consume(all, how);
    CHECK(rest.complaint() == "");
    CHECK(rest.elements == int64s{whole.elements[1], whole.elements[2]});
  }
}

TEST_CASE("group_by reports groups that the budget cannot hold") {
  runtime rt({.workers = 1, .memory_budget_bytes = 1 << 20});
  const auto ds = range(1'000'000) | group_by(expr("it"), expr<tens_row>("{n: count(), total: sum(it)}"));
  consumed got = consume_on(rt, ds | map(number_of_tens), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK_THAT(got.why.to_string(), Contains(" groups") && Contains("use fewer keys"));
  CHECK(rt.ledger().report().used_bytes == 0);
}

}  // namespace sluice::lib::group_by_test
