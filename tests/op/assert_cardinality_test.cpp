// SPDX-License-Identifier: Apache-2.0
// sluice/op/assert_cardinality.hpp
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::assert_cardinality_test {
namespace {

using namespace test;
using int64 = std::int64_t;

consumed asserted(int64 there, int64 expected, std::uint64_t skip) {
  consumption how;
  how.skip = skip;
  return consume(range(there) | assert_cardinality(expected), how);
}

}  // namespace

TEST_CASE("assert_cardinality gives what it gets where the number is right, for elements of every kind") {
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

TEST_CASE("where there are more or fewer, the error comes behind those that there are, and says how many") {
  for (std::uint64_t skip : {0, 1, 5, 7, 9, 50}) {
    CAPTURE(skip);
    consumed fewer = asserted(5, 7, skip);
    CHECK(fewer.elements == without_first(int64s{0, 1, 2, 3, 4}, skip));
    CHECK(fewer.why.code() == status_code::failed_precondition);
    CHECK_THAT(std::string(fewer.why.message()), Catch::Contains("was to have 7 elements, and has 5"));
    consumed more = asserted(10, 7, skip);
    CHECK(more.elements == without_first(int64s{0, 1, 2, 3, 4, 5, 6}, skip));
    // Where the consumer passes over all there are, their number is known.
    CHECK_THAT(std::string(more.why.message()), Catch::Contains(skip == 50 ? "was to have 7 elements, and has 10"
                                                                           : "was to have 7 elements, and has more"));
    CHECK(asserted(7, 7, skip).why.ok());
    CHECK_THAT(std::string(asserted(7, -1, skip).why.message()), Catch::Contains("without an end, and has 7"));
  }
  CHECK(consume(range(10) | assert_cardinality(7) | take(7), {}).why.ok());
}

TEST_CASE("assert_cardinality tells its number, prints as text, and is read again") {
  auto ds = range(10) | filter(expr("it > 4")) | assert_cardinality(5);
  round_trips(*ds.plan(), "range(10) | filter(it > 4) | assert_cardinality(5)");
}

}  // namespace sluice::lib::assert_cardinality_test
