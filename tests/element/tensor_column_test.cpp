// SPDX-License-Identifier: Apache-2.0
// Tensors as rows and members of batches: sluice/element/column.hpp, sluice/element/batched.hpp
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/element/batched.hpp"
#include "support/tensors.hpp"

namespace sluice::lib::tensor_column_test {
namespace {

using namespace test;
using int64 = std::int64_t;

struct sample {
  tensor image;
  int64 label = 0;
  std::pair<std::string, tensor> named;
};

TEST_CASE("equal tensors stack into one with a dimension more, and rows are views of it") {
  batched<tensor> b;
  for (float i = 0; i != 3; ++i) b.push_back(floats({i, i + 10}));
  REQUIRE(b.size() == 3);
  tensor all = b.stacked();
  CHECK(all.spec_text() == "float32[3,2]");
  CHECK(all.to_json() == "[[0.0,10.0],[1.0,11.0],[2.0,12.0]]");
  CHECK(b[1].to_json() == "[1.0,11.0]");
  CHECK(b[1].data() == all.data() + 8);
  CHECK(b.values()[2].to_json() == "[2.0,12.0]");
  CHECK(refusal([&] { b[3]; }) == "row 3 of a batch of 3");
  CHECK(!all.is_writable());
  std::string json;
  print(type_of<batched<tensor>>(), &b, json);
  CHECK(json == "[[0.0,10.0],[1.0,11.0],[2.0,12.0]]");
  b = batched<tensor>();
  CHECK(all.is_writable());  // it is the only one that is left
  CHECK(all.to_json() == "[[0.0,10.0],[1.0,11.0],[2.0,12.0]]");
  CHECK(b.stacked().spec_text() == "float32[0]");
}

TEST_CASE("a tensor of another spec is refused with both and the row, and changes nothing") {
  batched<tensor> b;
  for (int i = 0; i != 3; ++i) b.push_back(tensor::zeros(dtype::uint8, {224, 224, 3}));
  CHECK(refusal([&] { b.push_back(tensor::zeros(dtype::uint8, {224, 224})); }) ==
        "row 3 is uint8[224,224], the rows before are uint8[224,224,3]");
  CHECK(refusal([&] { b.push_back(tensor::zeros(dtype::int8, {224, 224, 3})); }) ==
        "row 3 is int8[224,224,3], the rows before are uint8[224,224,3]");
  CHECK(b.size() == 3);
  b.push_back(tensor::zeros(dtype::uint8, {224, 224, 3}));
  CHECK(b.size() == 4);

  batched<sample> s;
  s.push_back({floats({1}), 1, {"a", floats({1, 2})}});
  CHECK(refusal([&] { s.push_back({floats({1}), 1, {"a", floats({1})}}); }) ==
        "row 1: named.second is float32[1], the rows before are float32[2]");

  batched<batched<tensor>> nested;
  nested.push_back(std::move(b));
  batched<tensor> other;
  other.push_back(floats({1}));
  CHECK(refusal([&] { nested.push_back(std::move(other)); }) ==
        "row 1: [] is float32[1], the rows before are uint8[224,224,3]");

  column& rows = nested.storage().rows_column();
  CHECK(rows.child(0).row_spec()->text() == "uint8[224,224,3]");
  CHECK(refusal([&] { rows.child(0).append_tensor(floats({1})); }) ==
        "row 4 is float32[1], the rows before are uint8[224,224,3]");
}

template <class T> std::vector<T> unbatched(batched<T>& b, std::size_t at_once) {
  std::vector<T> rows;
  while (!b.empty()) {
    const std::size_t n = std::min(at_once, static_cast<std::size_t>(b.size()));
    slab out(type_of<T>());
    b.storage().take_front(type_of<T>(), out.reserve(n), n);
    out.set_live(0, n);
    for (std::size_t i = 0; i != n; ++i) rows.push_back(std::move(out.view().template as<T>()[i]));
  }
  return rows;
}

TEST_CASE("batch then unbatch is the identity over random dtypes and shapes, without a copy on the way out") {
  random_numbers random(23);
  for (int round = 0; round != 1000; ++round) {
    const dtype d = some_dtype(random);
    const tensor_shape shape = some_shape(random);
    const auto n = 1 + static_cast<int>(random.below(20));
    std::vector<tensor> in;
    batched<tensor> b;
    for (int i = 0; i != n; ++i) in.push_back(some_tensor(random, d, shape));
    CAPTURE(round, in[0].spec_text(), n);
    for (std::size_t at = 0; at != in.size();) {
      std::size_t k = 1 + random.below(in.size() - at);
      std::vector<tensor> some(in.begin() + static_cast<std::ptrdiff_t>(at),
                               in.begin() + static_cast<std::ptrdiff_t>(at + k));
      column& c = b.storage().make_rows(type_of<tensor>());
      const std::size_t before = c.memory_bytes();
      const std::size_t growth = c.growth(some.data(), k, sizeof(tensor), random.below(2) ? in.size() : 0);
      c.append(some.data(), k, sizeof(tensor));
      CHECK(c.memory_bytes() <= before + growth);
      for (tensor& t : some) ::new (static_cast<void*>(&t)) tensor();
      at += k;
    }
    if (shape.rank() < tensor_shape::kRankMax) {
      const tensor all = b.stacked();
      CHECK(all.spec() == tensor_spec{d, shape.below(n)});
      for (int i = 0; i != n; ++i) CHECK(all[i] == in[static_cast<std::size_t>(i)]);
    } else {
      CHECK(refusal([&] { b.stacked(); }) == "a tensor of 9 dimensions: at most 8");
    }
    batched<tensor> copies;  // as the copy kernel makes them: bytes of their own
    const column& rows = b.storage().rows_column();
    copies.storage().make_rows(type_of<tensor>()).append_copies(rows, 0, rows.rows());
    const buffer* bytes = rows.main_buffer();
    const std::vector<tensor> out = unbatched(b, 1 + random.below(5));
    CHECK(out == in);
    CHECK(unbatched(copies, 3) == in);
    for (const tensor& t : out)
      if (!t.empty()) CHECK(t.owner() == bytes);
  }
}

TEST_CASE("members are stacked beside others") {
  random_numbers random(29);
  batched<sample> b;
  std::vector<sample> in;
  for (int i = 0; i != 9; ++i) {
    in.push_back({some_tensor(random, dtype::uint8, {4, 4, 3}),
                  i,
                  {some_text(random), some_tensor(random, dtype::string, {2})}});
    b.push_back(in.back());
  }
  CHECK(b.stacked(&sample::image).spec_text() == "uint8[9,4,4,3]");
  CHECK(b.stacked(&sample::label).to_json() == "[0,1,2,3,4,5,6,7,8]");
  CHECK(b[&sample::image][5] == in[5].image);
  CHECK(b[&sample::image][5].data() == b.stacked(&sample::image)[5].data());
  auto [images, labels, named] = b.columns();
  CHECK(images[7] == in[7].image);
  CHECK(named[7].second == in[7].named.second);
  CHECK(labels[7] == 7);
  b.storage().drop_front(2);
  CHECK(b.stacked(&sample::image)[0] == in[2].image);
  std::vector<sample> out = unbatched(b, 4);
  REQUIRE(out.size() == 7);
  for (std::size_t i = 0; i != 7; ++i) {
    CHECK(out[i].image == in[i + 2].image);
    CHECK(out[i].named == in[i + 2].named);
    CHECK(out[i].label == in[i + 2].label);
  }
}

TEST_CASE("batches of batches stack one level more") {
  batched<batched<tensor>> b;
  for (int i = 0; i != 3; ++i) {
    batched<tensor> inner;
    for (int k = 0; k != 2; ++k) inner.push_back(tensor::of(std::vector<int>{i, k, 7, 8}, {2, 2}));
    b.push_back(std::move(inner));
  }
  CHECK(b.stacked().spec_text() == "int32[3,2,2,2]");
  CHECK(b.stacked()[2][1].to_json() == "[[2,1],[7,8]]");
  CHECK(b.values()[1][0].to_json() == "[[1,0],[7,8]]");
  b.push_back({});
  CHECK(refusal([&] { b.stacked(); }) == "rows of batch<tensor> do not stack into a tensor: row 0 has 2, row 3 has 0");
  auto rows = unbatched(b, 2);
  CHECK(rows[2][1].to_json() == "[[2,1],[7,8]]");
  CHECK(rows[3].empty());
}

TEST_CASE("rows of numbers and texts are tensors, too") {
  batched<std::array<float, 2>> b;
  CHECK(b.stacked().spec_text() == "float32[0,2]");
  for (float i = 0; i != 3; ++i) b.push_back({i, 0.5f});
  CHECK(b.stacked().to_json() == "[[0.0,0.5],[1.0,0.5],[2.0,0.5]]");
  CHECK(b.stacked().data() == reinterpret_cast<const char*>(b.values().data()));
  batched<std::string> texts;
  for (auto* t : {"one", "two"}) texts.push_back(t);
  CHECK(texts.stacked().to_json() == "[\"one\",\"two\"]");
  batched<std::optional<int>> maybe;
  maybe.push_back(1);
  CHECK(refusal([&] { maybe.stacked(); }).starts_with("rows of int32? do not stack into a tensor"));
}

TEST_CASE("lists and optionals of tensors keep each tensor unchanged") {
  struct crops {
    std::vector<tensor> all;
    std::optional<tensor> mask;
  };
  batched<crops> b;
  b.push_back({{floats({1}), floats({1, 2})}, std::nullopt});
  b.push_back({{}, floats({3})});
  CHECK(b[&crops::all][0][1] == floats({1, 2}));
  CHECK(b[&crops::mask][1] == floats({3}));
  auto rows = unbatched(b, 2);
  CHECK(rows[0].all[1] == floats({1, 2}));
  CHECK(!rows[0].mask);
}

TEST_CASE("decoders write a tensor's bytes where the batch has them") {
  batched<sample> b;
  column& rows = b.storage().make_rows(type_of<sample>());
  for (int i = 0; i != 40; ++i) {
    char* to = rows.child(0).append_tensor({dtype::uint8, {2, 2}});
    std::memset(to, i, 4);
    rows.child(1).append_value(int64{i});
    rows.child(2).child(0).append_text("x");
    rows.child(2).child(1).append_tensor(tensor::of(std::vector<std::string>{std::to_string(i)}));
    rows.child(2).append_row();
    rows.append_row();
  }
  rows.child(0).append_tensor({dtype::uint8, {2, 2}});  // a row that fails half-way
  CHECK(!rows.is_whole());
  rows.truncate(40);
  CHECK(rows.is_whole());
  CHECK(b[&sample::image][39].to_json() == "[[39,39],[39,39]]");
  CHECK(b.rows()[39].named.second.to_json() == "[\"39\"]");
  rows.truncate(0);
  rows.child(0).append_tensor(tensor::of(std::vector<std::string>{"another", "spec"}));
  CHECK(rows.child(0).row_spec()->text() == "string[2]");
  CHECK(rows.child(0).tensor_of(0, 1).to_json() == "[[\"another\",\"spec\"]]");
}

}  // namespace
}  // namespace sluice::lib::tensor_column_test
