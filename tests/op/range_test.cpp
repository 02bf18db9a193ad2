// SPDX-License-Identifier: Apache-2.0
// sluice/op/range.hpp
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::range_test {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s all_of(const dataset<int64>& ds) {
  consumed c = consume(ds, {});
  CHECK(c.complaint() == "");
  return c.elements;
}

}  // namespace

TEST_CASE("range counts from start to before stop, by step") {
  CHECK(all_of(range(5)) == int64s{0, 1, 2, 3, 4});
  CHECK(all_of(range(10, {.start = 2, .step = 3})) == int64s{2, 5, 8});
  CHECK(all_of(range(11, {.start = 2, .step = 3})) == int64s{2, 5, 8});
  CHECK(all_of(range(12, {.start = 2, .step = 3})) == int64s{2, 5, 8, 11});
  CHECK(all_of(range(0, {.start = 5, .step = -2})) == int64s{5, 3, 1});
}

TEST_CASE("range is empty where its step leads away from its end") {
  CHECK(all_of(range(0)).empty());
  CHECK(all_of(range(-3)).empty());
  CHECK(all_of(range(5, {.start = 5})).empty());
  CHECK(all_of(range(5, {.start = 2, .step = -1})).empty());
}

TEST_CASE("range reaches both ends of the numbers without overflow") {
  CHECK(all_of(range(INT64_MAX, {.start = INT64_MAX - 2})) == int64s{INT64_MAX - 2, INT64_MAX - 1});
  CHECK(all_of(range(INT64_MAX, {.start = INT64_MIN + 1, .step = INT64_MAX})) == int64s{INT64_MIN + 1, 0});
}

TEST_CASE("range skips any number at once") {
  consumption how;
  how.skip = 1'000'000'000'000;
  CHECK(consume(range(1'000'000'000'003), how).elements ==
        int64s{1'000'000'000'000, 1'000'000'000'001, 1'000'000'000'002});
}

TEST_CASE("range prints as text, and is read again") {
  round_trips(*range(5).plan(), "range(5)");
  round_trips(*range(10, {.start = 2, .step = 3}).plan(), "range(10, start=2, step=3)");
}

}  // namespace sluice::lib::range_test
