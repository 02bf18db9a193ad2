// SPDX-License-Identifier: Apache-2.0
#include "format/npy_header.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string>

namespace sluice::lib::npy_header_test {

namespace {

std::string header(dtype d, const std::vector<std::int64_t>& shape, std::size_t least = kNpyAlignment) {
  return npy_header(d, shape, least);
}

}  // namespace

TEST_CASE("an npy header equals NumPy's") {
  // numpy.lib.format.write_array_header_1_0 of NumPy 1.26
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
  expected.resize(127, ' ');
  expected += '\n';
  CHECK(header(dtype::float32, {3, 2}, 128) == expected);
  CHECK_THAT(header(dtype::int64, {5}), Catch::Contains("'descr': '<i8'") && Catch::Contains("'shape': (5,), }"));
  CHECK_THAT(header(dtype::boolean, {}), Catch::Contains("'descr': '|b1'") && Catch::Contains("'shape': (), }"));
}

TEST_CASE("an npy header is aligned, contains its length, and fits its room for any first length") {
  for (std::size_t rank = 0; rank != 9; ++rank) {
    std::vector<std::int64_t> inner(rank, 1'000'000'007);
    const std::size_t room = npy_header_room(dtype::uint16, inner);
    CHECK(room % kNpyAlignment == 0);
    for (std::int64_t n : {std::int64_t{0}, std::int64_t{1234}, INT64_MAX}) {
      std::vector<std::int64_t> shape{n};
      shape.insert(shape.end(), inner.begin(), inner.end());
      const std::string h = header(dtype::uint16, shape, room);
      CHECK(h.size() == room);
      CHECK(h.back() == '\n');
      const auto length = static_cast<unsigned char>(h[8]) + 256u * static_cast<unsigned char>(h[9]);
      CHECK(length + 10 == room);
    }
  }
}

TEST_CASE("NumPy has all dtypes but bfloat16, and no texts of any length") {
  for (int d = 0; d != kDtypes; ++d) {
    auto type = static_cast<dtype>(d);
    CHECK(npy_descr(type).has_value() == (type != dtype::bfloat16 && type != dtype::string));
  }
}

}  // namespace sluice::lib::npy_header_test
