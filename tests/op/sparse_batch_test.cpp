// SPDX-License-Identifier: Apache-2.0
// sluice/op/sparse_batch.hpp
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/plan_texts.hpp"
#include "verbs/sparse_batch_model.hpp"

namespace sluice::lib::sparse_batch_test {
using namespace test;
using namespace sparse_batch_case;
using Catch::Contains;
using int64 = std::int64_t;

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
  auto broken = [](int64) {
    return sparse_tensor{.indices = tensor::of(int64s{9}, {1, 1}), .values = tensor::of(int64s{1}), .dense_shape = {3}};
  };
  CHECK_THROWS_WITH(elements(range(1) | map(broken) | sparse_batch(1, {3})),
                    Contains("sparse_batch") && Contains("element 0"));
}

}  // namespace sluice::lib::sparse_batch_test
