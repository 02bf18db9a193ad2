// SPDX-License-Identifier: Apache-2.0
// sluice/op/fixed_length.hpp
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/file_case.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::fixed_length_test {
namespace {

using namespace test;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("fixed_length prints as text, and is read again") {
  round_trips(*fixed_length("a", {.record_bytes = 7, .header_bytes = 2}).plan(),
              "fixed_length(\"a\", 7, header_bytes=2)");
}

}  // namespace sluice::lib::fixed_length_test
