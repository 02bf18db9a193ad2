// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::skip_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("skip conforms") {
  for (int64 n : {0, 1, 5, 100})
    conforms({.stage = [n](const auto& in) { return in | skip(n); },
              .expected = [n](const int64s& in) { return without_first(in, static_cast<std::size_t>(n)); },
              .needs = one_each});
  conforms_for_elements([](const auto& in) { return in | skip(7); },
                        {.expected = [](const int64s& in) { return without_first(in, 7); }, .needs = one_each});
}

TEST_CASE("take and skip undo each other in either order") {
  conforms({.stage = [](const auto& in) { return in | skip(4) | take(6) | skip(2); },
            .expected = [](const int64s& in) { return without_first(first_of(without_first(in, 4), 6), 2); }});
}

TEST_CASE("skip prints as text, and is read again") {
  round_trips(*(range(5) | take(3) | skip(-1)).plan(), "range(5) | take(3) | skip(-1)");
}

}  // namespace sluice::lib::skip_test
