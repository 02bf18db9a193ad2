// SPDX-License-Identifier: Apache-2.0
// sluice/op/bucket_by_sequence_length.hpp
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/bucket_by_sequence_length_model.hpp"

namespace sluice::lib::bucket_by_sequence_length_test {
using namespace test;
using namespace bucket_by_sequence_length_case;
using int64 = std::int64_t;

TEST_CASE("bucket_by_sequence_length refuses an element that does not fit, and names it") {
  auto lists = range(9) | map(list_of_length);
  auto length = [](const int64s& x) { return static_cast<int>(x.size()); };
  CHECK_THROWS_WITH(lists | bucket_by_sequence_length(length, {3, 3}, {1, 1, 1}), Catch::Contains("3 follows 3"));
  CHECK_THROWS_WITH(lists | bucket_by_sequence_length(length, {3}, {1}), Catch::Contains("2 of them, not 1"));
  CHECK_THROWS_WITH(lists | bucket_by_sequence_length(length, {3}, {1, 1}, {.shapes = {{"x", {1}}}}),
                    Catch::Contains("shapes names x"));
  CHECK_THROWS_WITH(
      range(9) | map([](int64) { return tensor(); }) |
          bucket_by_sequence_length([](const tensor&) { return 1; }, {3}, {1, 1}, {.pad_to_bucket_boundary = true}),
      Catch::Contains("needs a shape of it"));
  CHECK_THROWS_WITH(elements(lists | bucket_by_sequence_length(length, {3}, {9, 9}, {.shapes = {{"it", {3}}}})),
                    Catch::Contains("has 4 items"));
  auto ds = range(9) | bucket_by_sequence_length([](int64 x) { return 5 - x; }, {3}, {9, 9});
  CHECK_THROWS_WITH(elements(ds), Catch::Contains("this one is -1"));
}

}  // namespace sluice::lib::bucket_by_sequence_length_test
