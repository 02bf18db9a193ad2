// SPDX-License-Identifier: Apache-2.0
// sluice/element/tensor.hpp, sluice/element/dtype.hpp; in batches: tensor_column_test.cpp
#include "sluice/element/tensor.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/base/status.hpp"
#include "sluice/element/batched.hpp"
#include "support/random/random_numbers.hpp"
#include "support/tensors.hpp"

namespace sluice::lib::tensor_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// By no code of the views: the elements of a flat list of their bytes.
std::vector<std::string> elements_of(const tensor& t) {
  std::vector<std::string> all(t.size());
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (t.dtype() == dtype::string) all[i] = t.text(i);
    else all[i].assign(t.data() + i * size_bytes(t.dtype()), size_bytes(t.dtype()));
  }
  return all;
}

TEST_CASE("a tensor has a dtype, a shape, and its elements row by row") {
  tensor t = tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(t.dtype() == dtype::float32);
  CHECK(t.rank() == 2);
  CHECK(dims_of(t) == dims{2, 3});
  CHECK(t.size() == 6);
  CHECK(t.size_bytes() == 24);
  CHECK(t.spec_text() == "float32[2,3]");
  CHECK(t.values<float>()[4] == 5);
  CHECK(t.to_json() == "[[1.0,2.0,3.0],[4.0,5.0,6.0]]");
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

TEST_CASE("a tensor can be written to while nothing shares it") {
  tensor t = floats({1, 2, 3});
  t.writable<float>()[0] = 7;
  {
    tensor view = t.slice(1, 2);
    CHECK(!t.is_writable());
    CHECK(refusal([&] { t.writable<float>(); }) ==
          "a tensor of float32[3] cannot be written to: its bytes are shared; write to its copy()");
    tensor own = view.copy();
    own.writable<float>()[0] = 9;
    CHECK(view.to_json() == "[2.0,3.0]");
  }
  CHECK(t.is_writable());
  CHECK(refusal([&] { t.writable<double>(); }) == "values of float64 are asked of a tensor of float32[3]");
  CHECK(t.to_json() == "[7.0,2.0,3.0]");
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

TEST_CASE("16-bit floating-point numbers convert as IEEE requires") {
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

}  // namespace
}  // namespace sluice::lib::tensor_test
