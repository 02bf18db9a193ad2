// SPDX-License-Identifier: Apache-2.0
// sluice/op/from_tensor_slices.hpp
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::from_tensor_slices_test {
namespace {

using namespace test;
using Catch::Contains;

struct columns {
  tensor x;
  std::pair<tensor, tensor> y;
};

}  // namespace

TEST_CASE("slices are views of the tensors' bytes, row by row") {
  tensor x = tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  tensor texts = tensor::of(std::vector<std::string>{"a", "", "ccc"});
  tensor none = tensor::make(dtype::uint8, {3, 0});
  runtime rt({.workers = 1});
  auto run = [](runtime& on, columns of) -> task<void> {
    auto s = from_tensor_slices(of).iterate(on);
    for (std::int64_t i = 0; i != 3; ++i) {
      auto row = co_await s.next();
      REQUIRE(row);
      CHECK(row->x.data() == of.x.data() + 8 * i);
      CHECK(row->x == of.x[i]);
      CHECK(row->y.first.text(0) == of.y.first.text(static_cast<std::size_t>(i)));
      CHECK(row->y.first.rank() == 0);
      CHECK(row->y.second.spec_text() == "uint8[0]");
    }
    auto end = co_await s.next();
    CHECK_FALSE(end);
  };
  sync_wait(rt, run(rt, columns{x, {texts, none}}));
}

TEST_CASE("a batch of slices is the tensor again") {
  tensor x = tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  runtime rt({.workers = 1});
  auto run = [](runtime& on, const tensor& of) -> task<void> {
    auto ds = from_tensor_slices(of) | batch(3);
    auto s = ds.iterate(on);
    auto b = co_await s.next();
    REQUIRE(b);
    CHECK(b->stacked() == of);
  };
  sync_wait(rt, run(rt, x));
}

TEST_CASE("tensors without slices are refused") {
  CHECK_THROWS_WITH(from_tensor_slices(tensor::scalar(1.5f)), Contains("float32[] has none"));
  CHECK_THROWS_WITH(parse_plan("from_tensor_slices(5)"), Contains("needs") || Contains("has none"));
  CHECK_THROWS_WITH(from_tensor_slices<double>(tensor::of(int64s{1})), Contains("float64") && Contains("int64[1]"));
  CHECK_THROWS_WITH(from_tensor_slices<std::int64_t>(tensor::of(int64s{1}, {1, 1})), Contains("tensor"));
}

}  // namespace sluice::lib::from_tensor_slices_test
