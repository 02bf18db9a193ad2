// SPDX-License-Identifier: Apache-2.0
// sluice/op/batch_by_tokens.hpp, src/engine/sized_batches.hpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
#include "verbs/batch_by_tokens_model.hpp"

namespace sluice::lib::batch_by_tokens_test {
namespace {

using namespace test;
using namespace batch_by_tokens_case;
using Catch::Contains;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("batch_by_tokens ends a batch before it has more than the budget") {
  CHECK(tokens(4, {}) == "[[1],[2,2]] [[3,3,3],[],[5]] [[6],[7]]");
  CHECK(tokens(3, {}) == "[[1],[2,2]] [[3,3,3],[]] [[5],[6],[7]]");
  CHECK(tokens(100, {.rows_max = count(3)}) == "[[1],[2,2],[3,3,3]] [[],[5],[6]] [[7]]");
  CHECK(tokens(4, {.drop_remainder = true}) == "[[1],[2,2]] [[3,3,3],[],[5]]");
  CHECK(tokens(6, {.padded = true}) == "[[1,0],[2,2]] [[3,3,3],[0,0,0]] [[5],[6],[7]]");
  CHECK(tokens(3, {.padded = true, .values = {{"it", -1}}}) == "[[1]] [[2,2]] [[3,3,3]] [[-1],[5],[6]] [[7]]");
}

TEST_CASE("an element of more tokens than a batch may have is an error, or a batch") {
  CHECK_THROWS_WITH(tokens(2, {}),
                    Contains("element 2") && Contains("it has 3 tokens, and a batch may have no more than 2"));
  CHECK(tokens(2, {.oversized = oversized::alone}) == "[[1]] [[2,2]] [[3,3,3]] [[],[5],[6]] [[7]]");
  CHECK(tokens(2, {.padded = true, .oversized = oversized::alone}) == "[[1]] [[2,2]] [[3,3,3]] [[0],[5]] [[6],[7]]");
}

TEST_CASE("batch_by_tokens prints as text, and is read again") {
  round_trips(*(range(5) | batch_by_tokens(expr("it"), 9, {.padded = true, .rows_max = count(2)})).plan(),
              "range(5) | batch_by_tokens(it, 9, padded=true, rows_max=2)");
}

}  // namespace sluice::lib::batch_by_tokens_test
