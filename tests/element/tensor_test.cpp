// SPDX-License-Identifier: Apache-2.0
// sluice/element/tensor.hpp, sluice/element/dtype.hpp; tensors in columns (sluice/element/column.hpp)
#include "sluice/element/tensor.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/base/status.hpp"
#include "sluice/element/batch.hpp"
#include "support/random_numbers.hpp"

namespace sluice::lib {
namespace {

using test::random_numbers;
using int64 = std::int64_t;
using dims = std::vector<int64>;

template <class F> std::string refusal(F f) {
  try {
    f();
  } catch (const error& e) { return std::string(e.why().message()); }
  return "";
}

dims dims_of(const tensor& t) { return {t.shape().begin(), t.shape().end()}; }

tensor_shape some_shape(random_numbers& random, std::size_t rank_max = tensor_shape::kRankMax) {
  dims d(random.below(rank_max + 1));
  for (int64& x : d) x = random.below(12) == 0 ? 0 : 1 + static_cast<int64>(random.below(4));
  return d;
}

std::string some_text(random_numbers& random) {
  std::string s(random.below(20), 'x');
  for (char& c : s) c = static_cast<char>(random.below(256));
  return s;
}

tensor some_tensor(random_numbers& random, dtype d, const tensor_shape& shape) {
  const std::size_t n = tensor_spec{d, shape}.elements();
  if (d == dtype::string) {
    std::vector<std::string> texts(n);
    for (auto& t : texts) t = some_text(random);
    return tensor::of(texts, shape);
  }
  tensor t = tensor::make(d, shape);
  char* to = t.writable_data();
  for (std::size_t i = 0; i != t.size_bytes(); ++i)
    to[i] = static_cast<char>(random.below(d == dtype::boolean ? 2 : 256));
  return t;
}
dtype some_dtype(random_numbers& random) { return static_cast<dtype>(random.below(kDtypes)); }

/// By no code of the views: the elements of a flat list of their bytes.
std::vector<std::string> elements_of(const tensor& t) {
  std::vector<std::string> all(t.size());
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (t.dtype() == dtype::string) all[i] = t.text(i);
    else all[i].assign(t.data() + i * size_bytes(t.dtype()), size_bytes(t.dtype()));
  }
  return all;
}

struct sample {
  tensor image;
  int64 label = 0;
  std::pair<std::string, tensor> named;
};

tensor floats(std::vector<float> values) { return tensor::of(values); }

TEST_CASE("a tensor has a dtype, a shape, and its elements row by row") {
  tensor t = tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(t.dtype() == dtype::float32);
  CHECK(t.rank() == 2);
  CHECK(dims_of(t) == dims{2, 3});
  CHECK(t.size() == 6);
  CHECK(t.size_bytes() == 24);
  CHECK(t.spec_text() == "float32[2,3]");
  CHECK(t.values<float>()[4] == 5);
  CHECK(t.to_json() == "[[1,2,3],[4,5,6]]");
  CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % 64 == 0);
  CHECK(refusal([&] { t.values<std::uint8_t>(); }) == "values of uint8 are asked of a tensor of float32[2,3]");
  CHECK(refusal([&] { t.text(0); }) == "values of string are asked of a tensor of float32[2,3]");

  CHECK(tensor::scalar(int64{7}).to_json() == "7");
  CHECK(tensor::scalar(int64{7}).spec_text() == "int64[]");
  CHECK(tensor::scalar("seven").to_json() == "\"seven\"");
  CHECK(tensor().spec_text() == "float32[0]");
  CHECK(tensor().to_json() == "[]");
  CHECK(tensor::of(std::vector<long long>{1}).dtype() == dtype::int64);
  CHECK(tensor::zeros(dtype::uint8, {2, 2}).to_json() == "[[0,0],[0,0]]");
  CHECK(tensor::zeros(dtype::string, {2}).to_json() == "[\"\",\"\"]");
  bool bits[] = {true, false};
  CHECK(tensor::of(std::span<const bool>(bits), {2}).to_json() == "[true,false]");
  CHECK(tensor::of(std::vector<bfloat16>{bfloat16(1.5f)}).to_json() == "[1.5]");
  CHECK(tensor::make(dtype::float64, {1'000'000'000, 0}).to_json() == "[]");
}

TEST_CASE("strings of a tensor keep their bytes apart") {
  tensor t = tensor::of(std::vector<std::string>{"a", "", "ccc", std::string("\0d", 2)}, {2, 2});
  CHECK(t.spec_text() == "string[2,2]");
  CHECK(t.size_bytes() == 6);
  CHECK(t.text(2) == "ccc");
  CHECK(t[1].text(1) == std::string("\0d", 2));
  CHECK(t[1].size_bytes() == 5);
  CHECK(t[0].copy() == t.slice(0, 1).reshape({2}));
  CHECK(!t.is_writable());
  CHECK(refusal([&] { t.writable_data(); }) == "a tensor of string[2,2] cannot be written to: strings cannot");
}

TEST_CASE("moves leave an empty vector, and neither they nor views allocate bytes") {
  static_assert(std::is_nothrow_move_constructible_v<tensor> && std::is_nothrow_copy_constructible_v<tensor>);
  static_assert(trivially_relocatable_v<tensor>);
  tensor t = floats({1, 2});
  const char* bytes = t.data();
  tensor moved = std::move(t);
  CHECK(moved.data() == bytes);
  CHECK(t.spec_text() == "float32[0]");  // NOLINT: what is left of it
  CHECK(t.values<float>().empty());
  t = moved;
  CHECK(t.data() == bytes);
}

TEST_CASE("slices, parts and reshaped tensors alias the same bytes, over random dtypes and shapes") {
  random_numbers random(17);
  for (int round = 0; round != 3000; ++round) {
    const tensor t = some_tensor(random, some_dtype(random), some_shape(random));
    CAPTURE(round, t.spec_text());
    const auto all = elements_of(t);
    const tensor copy = t.copy();
    CHECK(copy == t);
    CHECK(copy.hash() == t.hash());
    if (!t.empty()) CHECK(copy.data() != t.data());
    const tensor flat = t.reshape({-1});
    CHECK(flat.data() == t.data());
    CHECK(elements_of(flat) == all);
    CHECK(flat.reshape(t.shape()) == t);
    if (t.rank() == 0) continue;
    const int64 first_dim = t.shape()[0];
    const auto begin = static_cast<int64>(random.below(static_cast<std::uint64_t>(first_dim) + 1));
    const auto count = static_cast<int64>(random.below(static_cast<std::uint64_t>(first_dim - begin) + 1));
    const tensor some = t.slice(begin, count);
    const std::size_t each = first_dim ? all.size() / static_cast<std::size_t>(first_dim) : 0;
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(begin) * each);
    CHECK(elements_of(some) == std::vector<std::string>(at, at + static_cast<std::ptrdiff_t>(some.size())));
    if (!some.empty()) CHECK(some.owner() == t.owner());
    for (int64 i = 0; i != count; ++i) {
      const tensor part = some[i];
      CHECK(part == t[begin + i]);
      CHECK(part.data() == t[begin + i].data());
      CHECK(part.rank() + 1 == t.rank());
    }
  }
}

TEST_CASE("indices and shapes that do not fit are refused with both specs") {
  tensor t = tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(refusal([&] { t[2]; }) == "part 2 of a tensor of float32[2,3]");
  CHECK(refusal([&] { t[-1]; }) == "part -1 of a tensor of float32[2,3]");
  CHECK(refusal([&] { t.slice(1, 2); }) == "the slice of 2 from 1 on, of a tensor of float32[2,3]");
  CHECK(refusal([&] { t.slice(1, std::numeric_limits<int64>::max()); }) != "");
  CHECK(refusal([&] { tensor::scalar(1.0)[0]; }) == "a part of a tensor of float64[], which is a scalar");
  CHECK(refusal([&] { t.reshape({4}); }) ==
        "a tensor of float32[2,3] as float32[4]: it has another number of elements");
  CHECK(refusal([&] { t.reshape({4, -1}); }) != "");
  CHECK(refusal([&] { t.reshape({-1, -1}); }) == "a dimension of -1 in the shape of a tensor");
  CHECK(refusal([&] { t.reshape({0, -1}); }) != "");
  CHECK(dims_of(t.reshape({3, -1})) == dims{3, 2});
  CHECK(dims_of(tensor::make(dtype::int8, {0, 4}).reshape({7, 0})) == dims{7, 0});
  CHECK(refusal([&] { tensor::of(std::vector<int>{1, 2, 3}, {2, 2}); }) ==
        "3 values for a tensor of int32[2,2], which has 4");
  CHECK(refusal([&] { tensor::of(std::vector<std::string>{"a"}, {2}); }) ==
        "1 strings for a tensor of string[2], which has 2");
  CHECK(refusal([&] { tensor::make(dtype::int8, {1, 1, 1, 1, 1, 1, 1, 1, 1}); }) ==
        "a tensor of 9 dimensions: at most 8");
}

TEST_CASE("sizes that no memory has are refused before anything is allocated") {
  constexpr int64 kHuge = std::numeric_limits<int64>::max();
  CHECK(refusal([&] { tensor::make(dtype::float32, {kHuge}); }) ==
        "a tensor of float32[9223372036854775807] would have more than 2^63 - 1 bytes");
  CHECK(refusal([&] { tensor::make(dtype::uint8, {int64{1} << 32, int64{1} << 32}); }) != "");
  CHECK(refusal([&] { tensor::make(dtype::string, {kHuge}); }) != "");
  CHECK(refusal([&] { tensor::make(dtype::uint8, {kHuge, 0, kHuge}); }) != "");  // though it has no element
  CHECK(refusal([&] { tensor::make(dtype::uint8, {-1}); }) == "a dimension of -1 in the shape of a tensor");
  CHECK_THROWS_AS(tensor::make(dtype::uint8, {kHuge - 64}), std::bad_alloc);
  random_numbers random(5);
  for (int i = 0; i != 5000; ++i) {
    dims d(random.below(9));
    for (int64& x : d) {
      x = static_cast<int64>(random.below(std::uint64_t{1} << (1 + random.below(63))));
      if (random.below(8) == 0) x = 0;
    }
    tensor_spec spec{some_dtype(random), d};
    long double bytes = spec.dtype == dtype::string ? 4 : static_cast<long double>(size_bytes(spec.dtype));
    for (int64 x : d) bytes *= static_cast<long double>(std::max<int64>(x, 1));
    const bool refused = !refusal([&] { spec.check(); }).empty();
    CAPTURE(spec.text());
    CHECK(refused == (bytes > static_cast<long double>(kHuge - 4)));
  }
}

TEST_CASE("a tensor is written to as long as nobody shares it") {
  tensor t = floats({1, 2, 3});
  t.writable<float>()[0] = 7;
  {
    tensor view = t.slice(1, 2);
    CHECK(!t.is_writable());
    CHECK(refusal([&] { t.writable<float>(); }) ==
          "a tensor of float32[3] cannot be written to: its bytes are shared; write to its copy()");
    tensor own = view.copy();
    own.writable<float>()[0] = 9;
    CHECK(view.to_json() == "[2,3]");
  }
  CHECK(t.is_writable());
  CHECK(refusal([&] { t.writable<double>(); }) == "values of float64 are asked of a tensor of float32[3]");
  CHECK(t.to_json() == "[7,2,3]");
}

TEST_CASE("tensors are equal by spec and bytes") {
  CHECK(floats({1, 2}) == floats({1, 2}));
  CHECK(floats({1, 2}) != floats({1, 3}));
  CHECK(floats({1, 2}) != floats({1, 2}).reshape({2, 1}));
  CHECK(floats({0}) != floats({-0.0f}));
  CHECK(floats({NAN}) == floats({NAN}));
  CHECK(tensor::of(std::vector<int>{1}) != tensor::of(std::vector<unsigned>{1}));
  CHECK(tensor::of(std::vector<std::string>{"ab", "c"}) != tensor::of(std::vector<std::string>{"a", "bc"}));
  CHECK(floats({1, 2}).hash() != floats({1, 2}).reshape({2, 1}).hash());
  CHECK(std::hash<tensor>()(floats({1})) == floats({1}).hash());
  CHECK(tensor::make(dtype::int8, {0, 3}) == tensor::make(dtype::int8, {0, 3}));
}

TEST_CASE("16-bit floating-point numbers convert as IEEE says") {
  for (std::uint32_t bits = 0; bits != 0x10000; ++bits) {  // every one, there and back
    float16 h;
    h.bits = static_cast<std::uint16_t>(bits);
    const float f = static_cast<float>(h);
    const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
    const float size = exponent ? std::ldexp(1.0f + static_cast<float>(fraction) / 1024, exponent - 15)
                                : std::ldexp(static_cast<float>(fraction), -24);
    CAPTURE(bits);
    if (exponent == 31) REQUIRE((fraction ? std::isnan(f) : std::isinf(f)));
    else REQUIRE(std::abs(f) == size);
    REQUIRE(std::signbit(f) == (bits >> 15 != 0));
    if (exponent == 31 && fraction != 0) REQUIRE(std::isnan(static_cast<float>(float16(f))));
    else REQUIRE(float16(f) == h);
    if (exponent == 31) continue;
    float16 next = h;  // ties go to the even one, what is beside them to the nearer one
    ++next.bits;
    const float above = exponent == 30 && fraction == 1023 ? 65536.0f : std::abs(static_cast<float>(next));
    const float half = size + (above - size) / 2;
    const auto upper = static_cast<std::uint16_t>((bits & 0x7fff) + 1),
               lower = static_cast<std::uint16_t>(bits & 0x7fff);
    REQUIRE(float16(half).bits == (lower % 2 ? upper : lower));
    REQUIRE(float16(std::nextafter(half, 0.0f)).bits == lower);
    REQUIRE(float16(std::nextafter(half, 1e9f)).bits == upper);
  }
  CHECK(static_cast<float>(bfloat16(1.0f)) == 1.0f);
  CHECK(static_cast<float>(bfloat16(1.00390625f)) == 1.0f);       // 1 + 2^-8: a tie
  CHECK(static_cast<float>(bfloat16(1.01171875f)) == 1.015625f);  // 1 + 3 * 2^-8: a tie the other way
  CHECK(std::isnan(static_cast<float>(bfloat16(NAN))));
  CHECK(std::isinf(static_cast<float>(bfloat16(3.4e38f))));
  CHECK(std::isinf(static_cast<float>(float16(65520.0f))));
}

TEST_CASE("dtypes have names, sizes and C++ types") {
  for (int i = 0; i != kDtypes; ++i) CHECK(dtype_named(name_of(static_cast<dtype>(i))) == static_cast<dtype>(i));
  CHECK(!dtype_named("float"));
  CHECK(dtype_of<unsigned char>() == dtype::uint8);
  CHECK(dtype_of<long>() == dtype_of<long long>());
  CHECK(dtype_of(type_of<float>()) == dtype::float32);
  enum class tint : std::uint8_t { red };
  CHECK(dtype_of(type_of<tint>()) == dtype::uint8);
  CHECK(dtype_of(type_of<std::string>()) == dtype::string);
  CHECK(!dtype_of(type_of<tensor>()));
}

TEST_CASE("the descriptor of tensors") {
  const element_type& t = type_of<tensor>();
  CHECK(t.kind == kind::tensor);
  CHECK(t.name == "tensor");
  CHECK(t.relocatable);
  CHECK(can_stack(t));
  CHECK(stackable<tensor>);
  CHECK(form_of(t) == column_form::tensors);
  CHECK(type_of<batched<tensor>>().name == "batch<tensor>");

  tensor all[] = {tensor::make(dtype::float32, {16}), tensor::make(dtype::uint8, {224, 224, 3}), tensor()};
  CHECK(t.footprint(t, all, 1) == 64 + 64);
  CHECK(t.footprint(t, all + 1, 1) == 224 * 224 * 3);
  CHECK(t.footprint(t, all + 2, 1) == 0);
  tensor part = all[1].slice(0, 2);
  CHECK(t.footprint(t, &part, 1) == 2 * 224 * 3);
  t.compact(t, &part, 1);  // it does not keep the image
  CHECK(part.owner() != all[1].owner());
  CHECK(part == all[1].slice(0, 2));
  t.compact(t, all, 3);
  CHECK(all[1].is_writable());
  std::string json;
  print(t, &part, json);
  CHECK(json == part.to_json());
}

TEST_CASE("equal tensors stack into one with a dimension more, and rows are views of it") {
  batched<tensor> b;
  for (float i = 0; i != 3; ++i) b.push_back(floats({i, i + 10}));
  REQUIRE(b.size() == 3);
  tensor all = b.stacked();
  CHECK(all.spec_text() == "float32[3,2]");
  CHECK(all.to_json() == "[[0,10],[1,11],[2,12]]");
  CHECK(b[1].to_json() == "[1,11]");
  CHECK(b[1].data() == all.data() + 8);
  CHECK(b.values()[2].to_json() == "[2,12]");
  CHECK(refusal([&] { b[3]; }) == "row 3 of a batch of 3");
  CHECK(!all.is_writable());
  std::string json;
  print(type_of<batched<tensor>>(), &b, json);
  CHECK(json == "[[0,10],[1,11],[2,12]]");
  b = batched<tensor>();
  CHECK(all.is_writable());  // it is the only one that is left
  CHECK(all.to_json() == "[[0,10],[1,11],[2,12]]");
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
  CHECK(b.stacked().to_json() == "[[0,0.5],[1,0.5],[2,0.5]]");
  CHECK(b.stacked().data() == reinterpret_cast<const char*>(b.values().data()));
  batched<std::string> texts;
  for (auto* t : {"one", "two"}) texts.push_back(t);
  CHECK(texts.stacked().to_json() == "[\"one\",\"two\"]");
  batched<std::optional<int>> maybe;
  maybe.push_back(1);
  CHECK(refusal([&] { maybe.stacked(); }).starts_with("rows of int32? do not stack into a tensor"));
}

TEST_CASE("lists and optionals of tensors keep each tensor as it is") {
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
}  // namespace sluice::lib
