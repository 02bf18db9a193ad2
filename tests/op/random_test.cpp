// SPDX-License-Identifier: Apache-2.0
// sluice/op/random.hpp
#include <array>
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::random_test {
using namespace test;
using int64 = std::int64_t;

TEST_CASE("random's numbers are uniform") {
  constexpr int64 kKinds = 64, kDraws = 640'000;
  for (int64 seed : {1, 2, 3}) {
    std::array<double, kKinds> seen{};
    for (int64 x : consume(random({.seed = seed, .below = kKinds}) | take(kDraws), {}).elements) {
      REQUIRE((x >= 0 && x < kKinds));
      ++seen[static_cast<std::size_t>(x)];
    }
    double chi_square = 0;
    for (double n : seen) chi_square += (n - kDraws / kKinds) * (n - kDraws / kKinds) / (kDraws / kKinds);
    CHECK(chi_square > 30);  // 63 degrees of freedom: 0.01 % of streams are below, and as many above
    CHECK(chi_square < 116);
  }
}

}  // namespace sluice::lib::random_test
