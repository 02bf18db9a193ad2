// SPDX-License-Identifier: Apache-2.0
// sluice/op/ragged_batch.hpp, sluice/element/ragged_rows.hpp, src/engine/batching/row_batches.hpp
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/ragged_batch_model.hpp"

namespace sluice::lib::ragged_batch_test {
namespace {

using namespace test;
using namespace ragged_batch_case;
using Catch::Contains;
using int64 = std::int64_t;

struct ragged_row {
  int64 id;
  std::vector<std::vector<float>> words;
};

}  // namespace

TEST_CASE("ragged_batch keeps the length of each list and tensor") {
  auto spec = [](const ragged_tensor& r) { return r.spec_text(); };
  auto rows = [](int64 n) { return tensor::zeros(dtype::float32, {n, 2}); };
  CHECK(elements(range(3) | map(rows) | ragged_batch(3) | map(spec)) == "\"ragged float32[3,?,2]\"");
  CHECK(elements(range(4) | map(tensor_of) | ragged_batch(2) | ragged_batch(2) | map(spec)) ==
        "\"ragged int64[2,?,?]\"");
}

TEST_CASE("the lists of a batch are a ragged tensor that shares its bytes") {
  auto made = [](int64 x) {
    ragged_row r{x, {}};
    for (int64 i = 0; i != x; ++i) r.words.push_back(std::vector<float>(static_cast<std::size_t>(i), 0.5f));
    return r;
  };
  auto splits = [](const batched<ragged_row>& b) { return ragged_rows(b, &ragged_row::words).row_splits; };
  CHECK(elements(range(4) | map(made) | ragged_batch(3) | map(splits)) == "[[0,0,1,3],[0,0,0,1]] [[0,3],[0,0,1,3]]");
  batched<int64s> b;
  for (int64 x : {3, 0, 2, 7}) b.push_back(list_of(x));
  const ragged_tensor r = ragged_rows(b);
  CHECK(r.row_splits == std::vector<int64s>{{0, 3, 3, 5, 8}});
  CHECK(r.values.data() == ragged_rows(b).values.data());
  CHECK(r == ragged_tensor::of(std::vector<int64s>{{3, 3, 3}, {}, {2, 2}, {7, 7, 7}}));
  b.storage().drop_front(1);
  CHECK(ragged_rows(b) == ragged_tensor::of(std::vector<int64s>{{}, {2, 2}, {7, 7, 7}}));
  CHECK(ragged_rows(batched<std::vector<int64s>>()).row_splits == std::vector<int64s>{{0}, {0}});
  batched<std::vector<std::string>> texts;
  texts.push_back({"a", "bc"});
  texts.push_back({});
  CHECK(ragged_rows(texts).row(0) == tensor::of(std::vector<std::string>{"a", "bc"}));
}

}  // namespace sluice::lib::ragged_batch_test
