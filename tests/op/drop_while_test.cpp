// SPDX-License-Identifier: Apache-2.0
// sluice/op/drop_while.hpp
#include <cstdint>
#include <memory>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::drop_while_test {
using namespace test;
using int64 = std::int64_t;

TEST_CASE("after its first element drop_while calls no predicate, and skips like its input") {
  auto asked = std::make_shared<int64>(0);
  auto ds = counter() | drop_while([asked](int64 x) {
              ++*asked;
              return x < 7;
            });
  consumption how;
  how.skip = 1'000'000'000'000;
  how.elements_max = 2;
  CHECK(consume(ds, how).elements == int64s{1'000'000'000'007, 1'000'000'000'008});
  CHECK(*asked == 8);
}

}  // namespace sluice::lib::drop_while_test
