// SPDX-License-Identifier: Apache-2.0
// sluice/op/ragged_batch.hpp, sluice/element/ragged_rows.hpp, src/engine/batching/row_batches.hpp
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
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
  auto lists = from_elements(std::vector<int64s>{{1}, {}, {2, 3}});
  CHECK(elements(lists | ragged_batch(2)) == "[[1],[]] [[2,3]]");
  CHECK(elements(lists | ragged_batch(2, {.drop_remainder = true})) == "[[1],[]]");
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

TEST_CASE("ragged_batch names a row that does not fit, and refuses tensors within structures") {
  auto other = [](int64 x) { return x == 4 ? tensor::zeros(dtype::float32, {2}) : tensor_of(x); };
  CHECK_THROWS_WITH(elements(range(9) | map(other) | ragged_batch(3)),
                    Contains("ragged_batch") && Contains("element 4"));
  CHECK(elements(range(9) | map(other) | take(3) | ragged_batch(3) | map(number_of_ragged)) != "");
  auto scalar = [](int64 x) { return tensor::scalar(x); };
  CHECK_THROWS_WITH(elements(range(3) | map(scalar) | ragged_batch(3)),
                    Contains("ragged_batch") && Contains("element 0"));
  auto pair = [](int64 x) { return std::pair<int64, tensor>(x, tensor_of(x)); };
  CHECK_THROWS_WITH(range(3) | map(pair) | ragged_batch(3), Contains("map it to a list"));
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = std::size_t{1} << 20});
  auto large = [](int64) { return tensor::zeros(dtype::float32, {10'000}); };
  consumed got = consume_on(
      rt, range(99) | map(large) | ragged_batch(50) | map([](const ragged_tensor&) { return int64{1}; }), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK(rt.ledger().report().used_bytes == 0);
}

TEST_CASE("ragged_batch prints as text, and is read again; it knows its size") {
  round_trips(*(range(10) | ragged_batch(3, {.drop_remainder = true})).plan(),
              "range(10) | ragged_batch(3, drop_remainder=true)");
}

}  // namespace sluice::lib::ragged_batch_test
