// SPDX-License-Identifier: Apache-2.0
// sluice/op/round_robin.hpp
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "verbs/round_robin_model.hpp"

namespace sluice::lib::round_robin_test {
using namespace test;
using namespace round_robin_case;
using int64 = std::int64_t;

TEST_CASE("round_robin knows its size") {
  for (bool stop : {false, true})
    for (int64 a : {0, 1, 5})
      for (int64 b : {0, 4, 5, 6}) {
        auto ds = round_robin({range(a), range(b), range(5)}, {.stop_on_empty_dataset = stop});
        CAPTURE(stop, a, b);
        CHECK(cardinality_of(*ds.plan()) == cardinality::of(static_cast<int64>(consume(ds, {}).elements.size())));
      }
}

}  // namespace sluice::lib::round_robin_test
