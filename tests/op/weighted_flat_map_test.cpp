// SPDX-License-Identifier: Apache-2.0
// sluice/op/weighted_flat_map.hpp
#include <algorithm>
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/elements.hpp"
#include "support/trials/op_conformance.hpp"
#include "verbs/weighted_flat_map_model.hpp"

namespace sluice::lib::weighted_flat_map_test {
namespace {

using namespace test;
using namespace weighted_flat_map_case;
using int64 = std::int64_t;

std::vector<int64> parts_of(std::vector<int64> sizes, std::vector<double> weights) {
  std::vector<dataset<int64>> in;
  for (std::size_t i = 0; i != sizes.size(); ++i)
    in.push_back(numbers_from(static_cast<int64>(i) * 1'000'000, sizes[i]));
  auto ds = weighted_flat_map(in, {.weights = std::move(weights)});
  std::vector<int64> parts(sizes.size());
  int64s got = consume(ds, {}).elements;
  for (int64 x : got) ++parts[static_cast<std::size_t>(x / 1'000'000)];
  CHECK(cardinality_of(*ds.plan()) == cardinality::of(static_cast<int64>(got.size())));
  return parts;
}

}  // namespace

TEST_CASE(
    "weighted_flat_map delivers elements of each dataset in proportion to its weight, and all of the first that runs "
    "out") {
  CHECK(parts_of({100, 100, 10}, {0.2, 0.3, 0.5}) == std::vector<int64>{4, 6, 10});
  CHECK(parts_of({10, 100}, {0.2, 0.5}) == std::vector<int64>{10, 25});
  CHECK(parts_of({7, 5}, {}) == std::vector<int64>{5, 5});
  CHECK(parts_of({7}, {3}) == std::vector<int64>{7});
  CHECK(parts_of({0, 7}, {1, 1}) == std::vector<int64>{0, 0});
  CHECK(parts_of({3, 3}, {1e9, 1}) == std::vector<int64>{3, 0});
}

TEST_CASE("weighted_flat_map continues from any element and skips any number, for elements of every kind") {
  auto tries = [](auto as) {
    using As = decltype(as);
    auto of = [](int64 n) { return range(n) | map(As::made); };
    auto ds = weighted_flat_map({of(6), of(20), of(30)}, {.weights = {2, 1, 4}}) | map(As::number);
    int64s expected;
    for (int64 n : {6, 3, 12})
      for (int64 i = 0; i != n; ++i) expected.push_back(i);
    consumed whole = consume(ds, {.save = true});
    CHECK(whole.elements == expected);
    for (std::size_t at = 0; at < whole.places.size(); ++at) {
      consumption how;
      how.from = whole.places[at];
      CHECK(consume(ds, how).elements == without_first(expected, at));
      how.from = {};
      how.skip = at;
      CHECK(consume(ds, how).elements == without_first(expected, at));
    }
  };
  tries(as_text());
  tries(as_record());
  tries(as_move_only());
  tries(as_counting());
}

TEST_CASE("a global_shuffle after weighted_flat_map mixes the datasets") {
  auto ds = weighted_flat_map({range(1000), range(12'000, {.start = 10'000})}, {.weights = {1, 2}}) |
            global_shuffle({.seed = 4});
  int64s got = consume(ds, {}).elements, half = first_of(got, 1500);
  REQUIRE(got.size() == 3000);
  const auto of_first = std::count_if(half.begin(), half.end(), [](int64 x) { return x < 10'000; });
  CHECK(of_first > 430);
  CHECK(of_first < 570);
  std::sort(got.begin(), got.end());
  CHECK(std::adjacent_find(got.begin(), got.end()) == got.end());
}

}  // namespace sluice::lib::weighted_flat_map_test
