// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "sluice/base/status.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/none.hpp"
#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/structure.hpp"
#include "sluice/element/tensor_array.hpp"
#include "support/budget.hpp"
#include "support/tensors.hpp"

namespace sluice::lib::sparse_ragged_test {
using namespace sluice::lib::test;

namespace {

struct sample {
  std::int64_t label = 0;
  sparse_tensor words{};
  ragged_tensor spans{};
  none nothing{};
  std::vector<tensor> crops{};
};

using indices = std::vector<std::int64_t>;

sparse_tensor two_values() { return {tensor::of(indices{2, 3, 0, 1}, {2, 2}), floats({7, 5}), {3, 4}}; }

bool is_zero(const tensor& t) { return t == tensor::zeros(t.dtype(), tensor_shape(t.shape())); }

}  // namespace

TEST_CASE("a sparse tensor has values at indices") {
  const sparse_tensor s = two_values();
  CHECK(s.check().ok());
  CHECK(s.spec_text() == "sparse float32[3,4]");
  CHECK(s.to_dense().to_json() == "[[0.0,5.0,0.0,0.0],[0.0,0.0,0.0,0.0],[0.0,0.0,0.0,7.0]]");
  CHECK(s.to_dense(tensor::scalar(-1.0f)).to_json() ==
        "[[-1.0,5.0,-1.0,-1.0],[-1.0,-1.0,-1.0,-1.0],[-1.0,-1.0,-1.0,7.0]]");
  CHECK(s.ordered().indices.to_json() == "[[0,1],[2,3]]");
  CHECK(s.ordered().values.to_json() == "[5.0,7.0]");
  CHECK(sparse_tensor::of(s.to_dense()) == s.ordered());
  CHECK(sparse_tensor().check().ok());
  CHECK(sparse_tensor::of(tensor::scalar(3.0f)).to_dense().to_json() == "3.0");
  CHECK(sparse_tensor::of(floats({0.0f, -0.0f, 1e-40f})).indices.to_json() == "[[2]]");
  const sparse_tensor texts = sparse_tensor::of(tensor::of(std::vector<std::string>{"", "b", "", "dd"}, {2, 2}));
  CHECK(texts.values.to_json() == R"(["b","dd"])");
  CHECK(texts.to_dense(tensor::scalar("none")).to_json() == R"([["none","b"],["none","dd"]])");
}

TEST_CASE("an inconsistent sparse tensor is refused with the reason") {
  auto with = [](auto change) {
    sparse_tensor s = two_values();
    change(s);
    return refusal([&] { s.to_dense(); });
  };
  CHECK(with([](auto& s) { s.dense_shape = {3, 3}; }) == "sparse_tensor: value 0 is at [2,3], which is not in [3,3]");
  CHECK(with([](auto& s) { s.dense_shape = {3}; }) == "sparse_tensor: expected indices of int64[2,1], got int64[2,2]");
  CHECK(with([](auto& s) { s.dense_shape = {3, -1}; }) == "sparse_tensor: dense_shape has the length -1");
  CHECK(with([](auto& s) { s.values = s.values.reshape({1, 2}); }) ==
        "sparse_tensor: values are a vector, and these are float32[1,2]");
  CHECK(with([](auto& s) { s.indices = floats({1, 2, 3, 4}).reshape({2, 2}); }) ==
        "sparse_tensor: expected indices of int64[2,2], got float32[2,2]");
  CHECK(with([](auto& s) { s.indices = tensor::of(indices{2, 3, 2, 3}, {2, 2}); }) ==
        "sparse_tensor: two values are at [2,3]");
  CHECK(with([](auto& s) { s.dense_shape = {1 << 20, 1 << 20}; }) ==
        "a tensor of float32[1048576,1048576] has 4398046511104 bytes, more than 4294967296");
  CHECK(refusal([&] { two_values().to_dense(tensor::scalar(std::int64_t{1})); }) ==
        "the default for elements without a value must be a scalar of float32, and is int64[]");
}

TEST_CASE("a ragged tensor has rows of their own lengths") {
  const auto words = ragged_tensor::of(std::vector<std::vector<std::string>>{{"a", "b"}, {}, {"c"}});
  CHECK(words.row_splits == std::vector<indices>{{0, 2, 2, 3}});
  CHECK(words.spec_text() == "ragged string[3,?]");
  CHECK(words.row(0).to_json() == R"(["a","b"])");
  CHECK(words.row(1).spec_text() == "string[0]");
  CHECK(words.to_tensor().to_json() == R"([["a","b"],["",""],["c",""]])");
  CHECK(words.to_tensor(tensor::scalar("-")).to_json() == R"([["a","b"],["-","-"],["c","-"]])");
  CHECK(words.to_sparse().indices.to_json() == "[[0,0],[0,1],[2,0]]");
  CHECK(words.to_sparse().to_dense() == words.to_tensor());

  const auto deep = ragged_tensor::of(std::vector<std::vector<std::vector<float>>>{{{1, 2}, {}}, {}, {{3}, {4, 5, 6}}});
  CHECK(deep.row_splits == std::vector<indices>{{0, 2, 2, 4}, {0, 2, 2, 3, 6}});
  CHECK(deep.bounding_shape() == indices{3, 2, 3});
  CHECK(deep.part(2).row(1).to_json() == "[4.0,5.0,6.0]");
  CHECK(deep.part(2).values.owner() == deep.values.owner());
  CHECK(deep.part(1).spec_text() == "ragged float32[0,?]");
  CHECK(deep.to_tensor().to_json() ==
        "[[[1.0,2.0,0.0],[0.0,0.0,0.0]],[[0.0,0.0,0.0],[0.0,0.0,0.0]],[[3.0,0.0,0.0],[4.0,5.0,6.0]]]");
  CHECK(ragged_tensor::of(std::vector<std::vector<std::vector<float>>>{}).row_splits == std::vector<indices>{{0}, {0}});
  CHECK(ragged_tensor().check().ok());

  const auto rows = ragged_tensor::of_lengths(floats({1, 2, 3, 4, 5, 6}).reshape({3, 2}), std::vector<indices>{{1, 2}});
  CHECK(rows.spec_text() == "ragged float32[2,?,2]");
  CHECK(rows.to_tensor().to_json() == "[[[1.0,2.0],[0.0,0.0]],[[3.0,4.0],[5.0,6.0]]]");
  const auto uniform = ragged_tensor::of(floats({1, 2, 3, 4, 5, 6}).reshape({3, 2}));
  CHECK(uniform.row_splits == std::vector<indices>{{0, 2, 4, 6}});
}

TEST_CASE("an inconsistent ragged tensor is refused with the reason") {
  auto with = [](auto change) {
    auto r = ragged_tensor::of(std::vector<std::vector<std::vector<float>>>{{{1, 2}, {}}, {{3}}});
    change(r);
    return refusal([&] { r.to_tensor(); });
  };
  CHECK(with([](auto& r) { r.row_splits.clear(); }) ==
        "ragged_tensor: there are no row_splits; a tensor without a ragged dimension is a tensor");
  CHECK(with([](auto& r) { r.row_splits[1].clear(); }) ==
        "ragged_tensor: row_splits[0] end with 3, and there are 0 rows");
  CHECK(with([](auto& r) { r.row_splits[0][0] = 1; }) == "ragged_tensor: row_splits[0] do not begin with 0");
  CHECK(with([](auto& r) { r.row_splits[1][1] = 5; }) == "ragged_tensor: row_splits[1][2] is 2, less than 5 before it");
  CHECK(with([](auto& r) { r.row_splits[1].back() = 4; }) ==
        "ragged_tensor: row_splits[1] end with 4, and there are 3 values");
  CHECK(with([](auto& r) { r.values = tensor::scalar(1.0f); }) ==
        "ragged_tensor: values have at least one dimension, and are float32[]");
  const auto flat = ragged_tensor::of(std::vector<std::vector<float>>{{1}});
  CHECK(refusal([&] { flat.part(0); }) == "a row of ragged float32[1,?] is a tensor: row() gives it");
  CHECK(refusal([&] { flat.row(1); }) == "row 1 of ragged float32[1,?]");
  CHECK(refusal([] { ragged_tensor::of_lengths(floats({1}), std::vector<indices>{{-1}}); }) ==
        "ragged_tensor: a row of length -1");
  CHECK(refusal([] { ragged_tensor::of_lengths(floats({1}), std::vector<indices>{{2}}); }) ==
        "ragged_tensor: row_splits[0] end with 2, and there are 1 values");
  CHECK(refusal([] { ragged_tensor::of(floats({1})); }) ==
        "ragged_tensor: 1 ragged dimensions of a tensor of float32[1]");
  // Few bytes that say they are many.
  ragged_tensor wide{tensor::zeros(dtype::float32, {1 << 16}), {{0}}};
  for (int i = 0; i != 1 << 16; ++i) wide.row_splits[0].push_back(i == 0 ? 1 << 16 : 1 << 16);
  CHECK(refusal([&] { wide.to_tensor(); }) ==
        "a tensor of float32[65536,65536] has 17179869184 bytes, more than 4294967296");
  ragged_tensor empty_rows{tensor::zeros(dtype::float32, {std::int64_t{1} << 40, 0}), {{0, std::int64_t{1} << 40}}};
  CHECK(empty_rows.check().ok());
  CHECK(empty_rows.to_sparse().size() == 0);
}

TEST_CASE("ragged tensors stack into one with a dimension more") {
  const std::vector<ragged_tensor> rows = {ragged_tensor::of(std::vector<std::vector<float>>{{1, 2}, {}}),
                                           ragged_tensor::of(std::vector<std::vector<float>>{}),
                                           ragged_tensor::of(std::vector<std::vector<float>>{{3}})};
  const ragged_tensor all = stacked(rows);
  CHECK(all == ragged_tensor::of(std::vector<std::vector<std::vector<float>>>{{{1, 2}, {}}, {}, {{3}}}));
  for (std::size_t i = 0; i != rows.size(); ++i) CHECK(all.part(i) == rows[i]);
  const tensor_array vectors = {floats({1, 2}), floats({}), floats({3})};
  const ragged_tensor of_vectors = stacked_ragged(vectors);
  for (std::size_t i = 0; i != vectors.size(); ++i) CHECK(of_vectors.row(i) == vectors[i]);
  const std::vector<ragged_tensor> unlike = {rows[0], ragged_tensor::of(std::vector<indices>{{1}})};
  CHECK(refusal([&] { stacked(unlike); }) == "row 1: expected rows like ragged float32[2,?], got ragged int64[1,?]");
  CHECK(refusal([&] { stacked({}); }) == "no ragged tensors: their type is unknown");
}

TEST_CASE("tensors in arrays stack, split and join") {
  const tensor_array all = {floats({1, 2}), floats({3, 4}), floats({5, 6})};
  const tensor whole = stack(all);
  CHECK(whole.to_json() == "[[1.0,2.0],[3.0,4.0],[5.0,6.0]]");
  CHECK(unstack(whole) == all);
  CHECK(unstack(whole)[2].owner() == whole.owner());
  CHECK(concat(all).to_json() == "[1.0,2.0,3.0,4.0,5.0,6.0]");
  const indices lengths = {1, 0, 2};
  CHECK(split(whole, lengths)[2].to_json() == "[[3.0,4.0],[5.0,6.0]]");
  CHECK(concat(split(whole, lengths)) == whole);
  CHECK(stack(tensor_array{tensor::scalar("a"), tensor::scalar("bb")}).to_json() == R"(["a","bb"])");
  CHECK(refusal([&] { stack(tensor_array{floats({1}), floats({1, 2})}); }) ==
        "tensor 1: expected one like float32[1], got float32[2]");
  CHECK(refusal([&] { concat(tensor_array{floats({1}), tensor::scalar(1.0f)}); }) == "tensor 1 is a scalar, float32[]");
  CHECK(refusal([&] { concat({}); }) == "no tensors: their dtype and shape are unknown");
  CHECK(refusal([&] { split(whole, indices{1, 1}); }) == "the parts have 2 in sum, and float32[3,2] has 3");
  CHECK(refusal([&] { split(whole, indices{4}); }) == "parts of these lengths have not 3 in sum, as float32[3,2] has");
  CHECK(refusal([&] { unstack(tensor::zeros(dtype::float32, {std::int64_t{1} << 50, 0})); }) ==
        "parts of a tensor: 1125899906842624 are too many");
}

TEST_CASE("over random tensors, sparse and dense, ragged, sparse and padded forms agree") {
  for (std::uint64_t seed = first_seed(); seed != first_seed() + cases(2000); ++seed) {
    CAPTURE(seed);
    random_numbers random(seed);
    const dtype d = some_dtype(random);
    tensor t = some_tensor(random, d, some_shape(random, 4));
    const sparse_tensor s = sparse_tensor::of(t);
    REQUIRE(s.check().ok());
    CHECK(s.ordered() == s);
    const tensor again = s.to_dense();
    // -0.0 is no value.
    CHECK((again == t || sparse_tensor::of(again) == s));
    CHECK((s.size() != 0 || is_zero(again)));
    if (t.rank() < 2) continue;
    const std::size_t ragged = 1 + random.below(t.rank() - 1);
    const ragged_tensor r = ragged_tensor::of(t, ragged);
    REQUIRE(r.check().ok());
    CHECK(r.values.owner() == t.owner());
    if (t.size() != 0) CHECK(r.to_tensor() == t);
    CHECK(r.to_sparse().to_dense() == r.to_tensor());
    if (ragged == 1 && r.size() != 0) {
      tensor_array rows;
      for (std::size_t i = 0; i != r.size(); ++i) rows.push_back(r.row(i));
      CHECK(stacked_ragged(rows) == r);
    }
  }
}

TEST_CASE("sparse, ragged and none are members like any other") {
  sample s{3, two_values(), ragged_tensor::of(std::vector<std::vector<std::int64_t>>{{1}, {2, 3}}), {}, {floats({1})}};
  const value v = value::of(s);
  CHECK(v.print() == R"({"label":3,"words":{"indices":[[2,3],[0,1]],"values":[7.0,5.0],"dense_shape":[3,4]},)"
                     R"("spans":{"values":[1,2,3],"row_splits":[[0,1,3]]},"nothing":null,"crops":[[1.0]]})");
  CHECK(type_text(v.type()) ==
        "sample{label: int64, words: sparse_tensor{indices: tensor, values: tensor, dense_shape: int64[]}, spans: "
        "ragged_tensor{values: tensor, row_splits: int64[][]}, nothing: none{}, crops: tensor[]}");
  auto again = parse_value(serialise(v));
  REQUIRE(again.ok());
  CHECK(*again == v);
  CHECK(structure<sample>::paths()[1] == "words.indices");
  CHECK(structure<sample>::pack_values(structure<sample>::values(s)).value().words == s.words);
  auto leaves = structure<sample>::values(s);
  leaves[3] = value::of(std::vector<std::int64_t>{1, 1});
  CHECK(structure<sample>::pack_values(leaves).why().message() ==
        "sparse_tensor: value 0 is at [2,3], which is not in [1,1]");
  for (std::string_view name : {"tensor", "sparse_tensor", "ragged_tensor[]", "none?", "none{}"})
    CHECK(type_from_text(name).ok());
  CHECK(value_from_json(type_of<std::vector<none>>(), "[null,null]").value().print() == "[null,null]");
  CHECK(value_from_json(type_of<none>(), "{}").why().message() == "expected none{}, got an empty object");
}

TEST_CASE("rows with sparse and ragged tensors of any shape are of one batch") {
  batched<sample> b;
  for (int i = 0; i != 3; ++i) {
    sample s{i, two_values(), ragged_tensor::of(std::vector<std::vector<float>>(static_cast<std::size_t>(i))), {}, {}};
    s.words.dense_shape = {3 + i, 4};
    b.push_back(std::move(s));
  }
  CHECK(b[&sample::words].size() == 3);
  CHECK(b[&sample::words][2].dense_shape == indices{5, 4});
  CHECK(b[&sample::spans][1].size() == 1);
  auto rows = b.rows();
  CHECK(static_cast<const sample&>(rows[1]).words.dense_shape == indices{4, 4});
}

}  // namespace sluice::lib::sparse_ragged_test
