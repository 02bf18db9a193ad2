// SPDX-License-Identifier: Apache-2.0
// sluice/op/round_robin.hpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "verbs/round_robin_model.hpp"

namespace sluice::lib::round_robin_test {
namespace {

using namespace test;
using namespace round_robin_case;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("round_robin conforms for elements of every kind") {
  for (bool stop : {false, true}) {
    conforms_for_elements(
        [stop](const auto& in) {
          return round_robin({in | take(9), in, in | skip(3)}, {.stop_on_empty_dataset = stop});
        },
        {.expected = [stop](const int64s& in) { return by_turns({first_of(in, 9), in, without_first(in, 3)}, stop); }});
  }
}

TEST_CASE("round_robin knows its size") {
  for (bool stop : {false, true})
    for (int64 a : {0, 1, 5})
      for (int64 b : {0, 4, 5, 6}) {
        auto ds = round_robin({range(a), range(b), range(5)}, {.stop_on_empty_dataset = stop});
        CAPTURE(stop, a, b);
        CHECK(cardinality_of(*ds.plan()) == cardinality::of(static_cast<int64>(consume(ds, {}).elements.size())));
      }
}

TEST_CASE("round_robin prints as text, and is read again") {
  round_trips(*round_robin({range(3), range(5) | take(2)}, {.stop_on_empty_dataset = true}).plan(),
              "round_robin([range(3), range(5) | take(2)], stop_on_empty_dataset=true)");
}

}  // namespace sluice::lib::round_robin_test
