// SPDX-License-Identifier: Apache-2.0
// sluice/op/sparse_batch.hpp
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/plan_texts.hpp"
#include "verbs/sparse_batch_model.hpp"

namespace sluice::lib::sparse_batch_test {
namespace {

using namespace test;
using namespace sparse_batch_case;
using Catch::Contains;
using int64 = std::int64_t;

std::string sparse(const std::vector<int64s>& lists, count n, std::vector<int64> shape) {
  return elements(from_elements(lists) | sparse_batch(n, std::move(shape)));
}

}  // namespace

TEST_CASE("rows of sparse_batch are tensors of any rank, too, and sparse ones") {
  auto square = [](int64 x) { return tensor::of(int64s{x, x + 1, x + 2, x + 3}, {2, 2}); };
  auto batch_of_dense = range(2) | map(square) | sparse_batch(2, {2, -1});
  auto dense = [](const sparse_tensor& s) { return s.to_dense(); };
  CHECK(elements(batch_of_dense | map(dense)) == "[[[0,1],[2,3]],[[1,2],[3,4]]]");
  auto thin = [=](int64 x) { return sparse_tensor::of(square(x)); };  // without the 0
  auto batch_of_sparse = range(2) | map(thin) | sparse_batch(2, {3, 2});
  CHECK(elements(batch_of_sparse) == R"({"indices":[[0,0,1],[0,1,0],[0,1,1],[1,0,0],[1,0,1],[1,1,0],[1,1,1]],)"
                                     R"("values":[1,2,3,1,2,3,4],"dense_shape":[2,3,2]})");
  CHECK(elements(batch_of_sparse | map(dense)) == "[[[0,1],[2,3],[0,0]],[[1,2],[3,4],[0,0]]]");
}

TEST_CASE("sparse_batch names a row that does not fit") {
  CHECK_THROWS_WITH(sparse({{1}, {2, 2}, {3, 3, 3}}, 2, {2}),
                    Contains("element 2") && Contains("[3] does not fit into row_shape, [2]"));
  auto other = [](int64 x) { return x == 4 ? tensor::zeros(dtype::float32, {2}) : tensor::of(int64s{x}); };
  CHECK_THROWS_WITH(elements(range(9) | map(other) | sparse_batch(3, {2})),
                    Contains("element 4") && Contains("float32 is in a batch whose first row is int64"));
  CHECK_THROWS_WITH(elements(range(9) | map(other) | sparse_batch(1, {2, 2})), Contains("element 0"));
  CHECK_THROWS_WITH(range(3) | map(sparse_list) | sparse_batch(3, {2, 2}), Contains("has one dimension"));
  CHECK_THROWS_WITH(range(3) | map(sparse_list) | sparse_batch(3, {-2}), Contains("one is -2"));
  auto broken = [](int64) {
    return sparse_tensor{.indices = tensor::of(int64s{9}, {1, 1}), .values = tensor::of(int64s{1}), .dense_shape = {3}};
  };
  CHECK_THROWS_WITH(elements(range(1) | map(broken) | sparse_batch(1, {3})),
                    Contains("sparse_batch") && Contains("element 0"));
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = std::size_t{1} << 20});
  auto large = [](int64) { return int64s(5'000, 1); };
  consumed got = consume_on(rt, range(99) | map(large) | sparse_batch(50, {-1}) | map(number_of_sparse), {});
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK(rt.ledger().report().used_bytes == 0);
}

TEST_CASE("sparse_batch prints as text, and is read again; it knows its size") {
  CHECK(cardinality_of(*(range(10) | map(sparse_list) | sparse_batch(3, {4})).plan()) == cardinality::of(4));
}

}  // namespace sluice::lib::sparse_batch_test
