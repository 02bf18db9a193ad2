// SPDX-License-Identifier: Apache-2.0
// sluice/op/prefetch.hpp
#include <cstdint>
#include <memory>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::prefetch_test {
namespace {

using namespace test;
using int64 = std::int64_t;

int64s same(const int64s& in) { return in; }

// its blocks grow to 1,024 elements

}  // namespace

TEST_CASE("a prefetch of a prefetch conforms") {
  conforms(
      {.stage = [](const auto& in) { return in | prefetch(2) | prefetch(3); }, .expected = same, .before_error = same});
}

TEST_CASE("prefetch works no further ahead than its limit") {
  auto calls = std::make_shared<int>();
  auto counting = [calls](int64 x) {
    ++*calls;
    return x;
  };
  consumption how;
  how.elements_max = 1;
  CHECK(consume(range(1000) | map(counting) | prefetch(5), how).elements == int64s{0});
  CHECK(*calls >= 1);
  CHECK(*calls <= 6);  // five made ahead, and the one that was taken
}

TEST_CASE("a checkpoint outlives a prefetch: it continues in a plan whose prefetch is another") {
  auto plan_with = [](knob elements) { return range(100) | shuffle(10, {.seed = 2}) | prefetch(elements); };
  consumption how;
  how.save = true;
  consumed full = consume(plan_with(5), how);
  for (std::size_t i : {0, 1, 50, 99, 100}) {
    consumption from_here;
    from_here.from = full.places[i];
    CHECK(consume(plan_with(40), from_here).elements ==
          int64s(full.elements.begin() + static_cast<std::ptrdiff_t>(i), full.elements.end()));
  }
}

}  // namespace sluice::lib::prefetch_test
