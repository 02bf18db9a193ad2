// SPDX-License-Identifier: Apache-2.0
// sluice/op/flat_map.hpp
#include <cstdint>
#include <memory>

#include <catch2/catch.hpp>

#include "op/opened_elements.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::flat_map_test {
using namespace test;
using int64 = std::int64_t;

TEST_CASE("flat_map conforms") {
  conforms({.stage = [](const auto& in) { return in | flat_map(opened_for); },
            .expected = one_after_the_other,
            .before_error = one_after_the_other,
            .needs =
                [](const int64s& in, std::size_t k) {
                  std::size_t opened = 0;
                  for (int64s given; given.size() < k; ++opened) given = one_after_the_other(first_of(in, opened + 1));
                  return opened;
                }});
}

TEST_CASE("flat_map opens a dataset when its first element is requested, and skips inside datasets") {
  auto opened = std::make_shared<int>();
  auto made = std::make_shared<int>();
  auto counting = [opened, made](int64 x) {
    ++*opened;
    return range(100, {.start = 0}) | map([made, x](int64 y) {
             ++*made;
             return 1000 * x + y;
           });
  };
  auto ds = range(50) | flat_map(counting);
  CHECK(consume(ds | take(101), {}).elements.back() == 1000);
  CHECK(*opened == 2);
  CHECK(*made == 101);
  *opened = *made = 0;
  consumption how;
  how.skip = 250;
  how.elements_max = 1;
  how.ask_max = 1;
  CHECK(consume(ds, how).elements == int64s{2050});
  CHECK(*opened == 3);
  CHECK(*made <= 3);  // one of each at most: a range seeks
}

}  // namespace sluice::lib::flat_map_test
