// SPDX-License-Identifier: Apache-2.0
// sluice/op/assert_cardinality.hpp
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::assert_cardinality_test {
using namespace test;
using int64 = std::int64_t;

TEST_CASE("assert_cardinality forwards its input if the number is right, for elements of every kind") {
  for (std::size_t n : {0, 1, 2, 23, 200}) {
    conforms({.stage =
                  [n](const auto& in) {
                    // The input of a conformance has any length: this one has n.
                    return concatenate(in | take(0), range(static_cast<int64>(n))) |
                           assert_cardinality(static_cast<int64>(n));
                  },
              .expected =
                  [n](const int64s&) {
                    int64s out;
                    for (std::size_t i = 0; i != n; ++i) out.push_back(static_cast<int64>(i));
                    return out;
                  }});
  }
  conforms_for_elements([](const auto& in) { return in | take(0) | assert_cardinality(0); },
                        {.expected = [](const int64s&) { return int64s(); }});
}

}  // namespace sluice::lib::assert_cardinality_test
