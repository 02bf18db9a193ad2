// SPDX-License-Identifier: Apache-2.0
// sluice/op/take_while.hpp
#include <cstdint>
#include <memory>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::take_while_test {
using namespace test;
using int64 = std::int64_t;

TEST_CASE("take_while requests nothing of its input after its end") {
  auto made = std::make_shared<int64>(0);
  auto ds = range(100) | map([made](int64 x) {
              ++*made;
              return x;
            }) |
            take_while([](int64 x) { return x != 5; });
  consumption one_by_one;
  one_by_one.ask_max = 1;
  CHECK(consume(ds, one_by_one).elements == int64s{0, 1, 2, 3, 4});
  CHECK(*made == 6);
}

}  // namespace sluice::lib::take_while_test
