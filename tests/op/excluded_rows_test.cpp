// SPDX-License-Identifier: Apache-2.0
// op/parquet/excluded_rows.hpp
#include "op/parquet/excluded_rows.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "support/budget.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::excluded_rows_test {
namespace {

using namespace test;
using enum member_comparison::operator_type;

template <class A, class B> bool holds(const A& a, member_comparison::operator_type op, const B& b) {
  switch (op) {
    case less: return a < b;
    case less_equal: return a <= b;
    case equal: return a == b;
    case greater_equal: return a >= b;
    case greater: return a > b;
  }
  return false;
}

column_bounds whole_bounds(std::int64_t min, std::int64_t max) {
  return {.kind = column_bounds::whole, .whole_min = min, .whole_max = max};
}
column_bounds real_bounds(double min, double max) {
  return {.kind = column_bounds::real, .real_min = min, .real_max = max};
}
member_comparison with(member_comparison::operator_type op, std::int64_t to) {
  return {.op = op, .literal = member_comparison::whole, .member = "x", .whole_value = to};
}
member_comparison with(member_comparison::operator_type op, double to) {
  return {.op = op, .literal = member_comparison::real, .member = "x", .real_value = to};
}
member_comparison with(member_comparison::operator_type op, std::string to) {
  return {.op = op, .literal = member_comparison::text, .member = "x", .text_value = std::move(to)};
}

}  // namespace

TEST_CASE("a group is excluded exactly if no value within its bounds satisfies the comparison") {
  random_numbers random(first_seed());
  std::size_t excluded = 0;
  for (std::uint64_t i = 0; i != 20'000; ++i) {
    const auto a = static_cast<std::int64_t>(random.below(9)) - 4, b = static_cast<std::int64_t>(random.below(9)) - 4;
    const std::int64_t min = std::min(a, b), max = std::max(a, b), to = static_cast<std::int64_t>(random.below(13)) - 6;
    const auto op = static_cast<member_comparison::operator_type>(random.below(5));
    bool some = false;
    for (std::int64_t v = min; v <= max; ++v) some |= holds(v, op, to);
    CAPTURE(min, max, int(op), to);
    CHECK(excludes_all(whole_bounds(min, max), with(op, to), 9) == !some);
    const bool between = op == equal && min <= to && to <= max;  // a double between the bounds may be equal
    CHECK(excludes_all(real_bounds(double(min), double(max)), with(op, to), 9) == !(some || between));
    const double half = static_cast<double>(to) + 0.5;
    some = false;
    for (std::int64_t v = min; v <= max; ++v) some |= holds(static_cast<double>(v), op, half);
    if (op != equal) CHECK(excludes_all(whole_bounds(min, max), with(op, half), 9) == !some);
    excluded += !some;
  }
  CHECK(excluded > 1000);
}

TEST_CASE("texts are compared as bytes, also by bounds that were shortened") {
  const column_bounds b{.kind = column_bounds::text, .text_min = "b", .text_max = "n9\xc3"};
  CHECK(excludes_all(b, with(less, "b"), 9));
  CHECK_FALSE(excludes_all(b, with(less_equal, "b"), 9));
  CHECK(excludes_all(b, with(greater, "n9\xc3"), 9));
  CHECK_FALSE(excludes_all(b, with(greater, "n9"), 9));
  CHECK(excludes_all(b, with(equal, "n9\xff"), 9));
  CHECK(excludes_all(b, with(equal, "a"), 9));
  CHECK_FALSE(excludes_all(b, with(equal, "m"), 9));
}

TEST_CASE("a group without values is excluded, and one without bounds is not") {
  column_bounds b{.nulls = 9};
  CHECK(excludes_all(b, with(less, std::int64_t{3}), 9));
  CHECK_FALSE(excludes_all(b, with(less, std::int64_t{3}), 10));
  CHECK_FALSE(excludes_all({}, with(less, std::int64_t{3}), 9));
  CHECK_FALSE(excludes_all(whole_bounds(1, 2), with(greater, "a"), 9));
  CHECK_FALSE(excludes_all({.kind = column_bounds::text, .text_min = "a", .text_max = "b"}, with(greater, std::int64_t{5}), 9));
}

TEST_CASE("numbers that a double or a float rounds exclude nothing that may be equal") {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  CHECK_FALSE(excludes_all(whole_bounds(kOdd, kOdd), with(greater, static_cast<double>(kOdd - 1)), 9));
  CHECK_FALSE(excludes_all(real_bounds(0, 1), with(greater, kOdd), 9));
  CHECK(excludes_all(whole_bounds(0, kOdd), with(greater, kOdd), 9));
  // The float nearest to 0.1 is greater than 0.1; the comparison may be one of floats or of doubles.
  const auto tenth = static_cast<double>(0.1f);
  CHECK_FALSE(excludes_all(real_bounds(0, tenth), with(greater, 0.1), 9));
  CHECK_FALSE(excludes_all(real_bounds(0, tenth), with(greater_equal, 0.1), 9));
  CHECK_FALSE(excludes_all(real_bounds(0.1, 0.1), with(equal, 0.1), 9));
  CHECK(excludes_all(real_bounds(0, 0.05), with(greater, 0.1), 9));
  CHECK(excludes_all(real_bounds(0, 1), with(less, std::numeric_limits<double>::quiet_NaN()), 9));
}

}  // namespace sluice::lib::excluded_rows_test
