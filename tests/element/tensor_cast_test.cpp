// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/tensor_cast.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "element/tensors/with_dtype.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib::tensor_cast_test {
namespace {

std::string refusal_of(const tensor& t, dtype to) {
  try {
    cast(t, to);
  } catch (const error& e) { return std::string(e.why().message()); }
  return "none";
}

/// As C++ computes it, where the value fits.
template <class To> To by_hand(double v) {
  if constexpr (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>) return To(static_cast<float>(v));
  else if constexpr (std::is_same_v<To, bool>) return v != 0;
  else return static_cast<To>(v);
}

}  // namespace

TEST_CASE("a tensor becomes one of any other dtype, value by value") {
  random_source random(5);
  for (int from = 0; from != kDtypes - 1; ++from) {
    for (int to = 0; to != kDtypes - 1; ++to) {
      CAPTURE(name_of(dtype(from)), name_of(dtype(to)));
      with_number_dtype(dtype(from), [&]<class From>(std::type_identity<From>) {
        with_number_dtype(dtype(to), [&]<class To>(std::type_identity<To>) {
          tensor t = tensor::make(dtype(from), {3, 67});
          for (From& v : t.writable<From>()) v = by_hand<From>(static_cast<double>(random.below(100)));
          tensor made = cast(t, dtype(to));
          REQUIRE(made.dtype() == dtype(to));
          REQUIRE(made.spec().shape == t.spec().shape);
          bool equal = true;
          auto values = t.values<From>();
          for (std::size_t i = 0; i != values.size(); ++i) {
            auto value =
                static_cast<double>(static_cast<std::conditional_t<sizeof(From) == 2, float, From>>(values[i]));
            equal &= made.values<To>()[i] == by_hand<To>(value);
          }
          CHECK(equal);
        });
      });
    }
  }
}

TEST_CASE("a value that the other dtype does not have is refused with its place") {
  CHECK(refusal_of(tensor::of(std::vector<std::int32_t>{1, 2, 3, 256, 5, 6}, {2, 3}), dtype::uint8) ==
        "cast: the value 256 at [1][0] is no uint8");
  CHECK(refusal_of(tensor::of(std::vector<std::int64_t>{-1}), dtype::uint64) ==
        "cast: the value -1 at [0] is no uint64");
  CHECK(refusal_of(tensor::of(std::vector<std::uint64_t>{1ull << 63}), dtype::int64) != "none");
  CHECK(refusal_of(tensor::of(std::vector<std::string>{"a"}), dtype::int8) == "cast: string[1] cannot become int8");
  CHECK(refusal_of(tensor::of(std::vector<float>{1}), dtype::string) == "cast: float32[1] cannot become string");
  for (float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), 128.f, -129.f, 1e30f})
    CHECK(refusal_of(tensor::of(std::vector<float>{0, bad}), dtype::int8) != "none");
  CHECK(cast(tensor::of(std::vector<float>{127.9f, -128.9f, -0.5f}), dtype::int8) ==
        tensor::of(std::vector<std::int8_t>{127, -128, 0}));
  CHECK(refusal_of(tensor::of(std::vector<double>{9223372036854775808.0}), dtype::int64) != "none");
  CHECK(cast(tensor::of(std::vector<double>{-9223372036854775808.0}), dtype::int64) ==
        tensor::of(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}));
}

TEST_CASE("of its own dtype a tensor is shared, and an empty one stays empty") {
  tensor t = tensor::of(std::vector<float>{1, 2});
  CHECK(cast(t, dtype::float32).data() == t.data());
  CHECK(cast(tensor::make(dtype::float32, {0, 3}), dtype::int8).spec_text() == "int8[0,3]");
}

TEST_CASE("bytes become a vector of little-endian numbers") {
  CHECK(decode_raw(std::string_view("\1\0\2\0", 4), dtype::uint16) == tensor::of(std::vector<std::uint16_t>{1, 2}));
  CHECK(decode_raw("", dtype::float64).spec_text() == "float64[0]");
  CHECK_THROWS_WITH(decode_raw("abc", dtype::int16), Catch::Contains("3 bytes are no whole number of int16, of 2"));
  CHECK_THROWS_WITH(decode_raw("ab", dtype::boolean), Catch::Contains("a bool is a byte of 0 or 1"));
  CHECK_THROWS_WITH(decode_raw("ab", dtype::string), Catch::Contains("strings have no size"));
}

}  // namespace sluice::lib::tensor_cast_test
