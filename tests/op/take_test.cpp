// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::take_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("take conforms") {
  for (int64 n : {0, 1, 5, 100})
    conforms({.stage = [n](const auto& in) { return in | take(n); },
              .expected = [n](const int64s& in) { return first_of(in, static_cast<std::size_t>(n)); },
              .needs = one_each});
  conforms_for_elements([](const auto& in) { return in | take(30); },
                        {.expected = [](const int64s& in) { return first_of(in, 30); }, .needs = one_each});
}

TEST_CASE("take(-1) takes all, and an error below is not hidden") {
  conforms({.stage = [](const auto& in) { return in | take(-1); },
            .expected = [](const int64s& in) { return in; },
            .before_error = [](const int64s& in) { return in; }});
  conforms({.stage = [](const auto& in) { return in | take(1000); },
            .expected = [](const int64s& in) { return first_of(in, 1000); },
            .before_error = [](const int64s& in) { return in; }});
}

TEST_CASE("take prints as text, and is read again") { round_trips(*(range(5) | take(3)).plan(), "range(5) | take(3)"); }

}  // namespace sluice::lib::take_test
