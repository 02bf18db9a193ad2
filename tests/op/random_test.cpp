// SPDX-License-Identifier: Apache-2.0
// sluice/op/random.hpp
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::random_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

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

TEST_CASE("random's numbers are those of its seed, and the same in each epoch unless they are to be others") {
  auto first = [](const dataset<int64>& ds) { return consume(ds | take(5), {}).elements; };
  CHECK(first(random({.seed = 7})) == first(random({.seed = 7})));
  CHECK(first(random({.seed = 7})) != first(random({.seed = 8})));
  int64s two = consume(random({.seed = 7}) | take(5) | repeat(2), {}).elements;
  CHECK(first_of(two, 5) == without_first(two, 5));
  two = consume(random({.seed = 7, .reshuffle_each_iteration = true}) | take(5) | repeat(2), {}).elements;
  CHECK(first_of(two, 5) != without_first(two, 5));
  consumption later;
  later.skip = 1'000'000'000;
  later.elements_max = 3;
  CHECK(consume(random({.seed = 7}), later).elements ==
        consume(random({.seed = 7}) | skip(1'000'000'000) | take(3), {}).elements);
}

TEST_CASE("random prints as text, and is read again; it never ends, and refuses to be below 0") {
  round_trips(*random({.seed = 7, .below = 6}).plan(), "random(seed=7, below=6)");
}

}  // namespace sluice::lib::random_test
