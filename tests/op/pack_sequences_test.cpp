// SPDX-License-Identifier: Apache-2.0
// sluice/op/pack_sequences.hpp
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/pack_sequences_model.hpp"

namespace sluice::lib::pack_sequences_test {
namespace {

using namespace test;
using namespace pack_sequences_case;
using Catch::Contains;
using int64 = std::int64_t;

template <class I>
std::string packed(const std::vector<std::vector<I>>& in, int64 most, pack_sequences_options o = {}) {
  return elements(from_elements(in) | pack_sequences(most, o));
}

}  // namespace

TEST_CASE("pack_sequences puts each sequence into the first row that has room") {
  using lists = std::vector<int64s>;
  CHECK(packed(lists{{5, 6, 7}, {8}, {9, 9}}, 4) ==
        R"({"tokens":[5,6,7,8],"segments":[1,1,1,2],"positions":[0,1,2,0]})"
        R"( {"tokens":[9,9,0,0],"segments":[1,1,0,0],"positions":[0,1,0,0]})");
  CHECK(packed(std::vector<std::vector<std::uint8_t>>{{255}}, 2, {.pad_token = -1}) ==
        R"({"tokens":[255,-1],"segments":[1,0],"positions":[0,0]})");
  auto batches = range(40) | map(sequence_of) | pack_sequences(8) | batch(4);
  auto shape = [](const batched<packed_row>& b) { return b.stacked(&packed_row::tokens).spec_text(); };
  CHECK_THAT(elements(batches | map(shape)), Catch::StartsWith("\"int64[4,8]\""));
}

}  // namespace sluice::lib::pack_sequences_test
