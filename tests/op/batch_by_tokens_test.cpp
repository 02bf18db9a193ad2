// SPDX-License-Identifier: Apache-2.0
// sluice/op/batch_by_tokens.hpp, src/engine/batching/sized_batches.hpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"

namespace sluice::lib::batch_by_tokens_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("batch_by_tokens prints as text, and is read again") {
  round_trips(*(range(5) | batch_by_tokens(expr("it"), 9, {.padded = true, .rows_max = count(2)})).plan(),
              "range(5) | batch_by_tokens(it, 9, padded=true, rows_max=2)");
}

}  // namespace sluice::lib::batch_by_tokens_test
