// SPDX-License-Identifier: Apache-2.0
// sluice/op/counter.hpp
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::counter_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("counter prints as text, and is read again") {
  round_trips(*counter({.start = 1, .step = 2}).plan(), "counter(start=1, step=2)");
  round_trips(*counter().plan(), "counter()");
}

}  // namespace sluice::lib::counter_test
