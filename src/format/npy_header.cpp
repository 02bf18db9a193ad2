// SPDX-License-Identifier: Apache-2.0
#include "format/npy_header.hpp"

#include <algorithm>
#include <vector>

#include "sluice/base/assert.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kNpyVersion1("\x93NUMPY\x01\x00", 8);

}  // namespace

std::optional<std::string_view> npy_descr(dtype d) {
  switch (d) {
    case dtype::boolean: return "|b1";
    case dtype::int8: return "|i1";
    case dtype::int16: return "<i2";
    case dtype::int32: return "<i4";
    case dtype::int64: return "<i8";
    case dtype::uint8: return "|u1";
    case dtype::uint16: return "<u2";
    case dtype::uint32: return "<u4";
    case dtype::uint64: return "<u8";
    case dtype::float16: return "<f2";
    case dtype::float32: return "<f4";
    case dtype::float64: return "<f8";
    case dtype::bfloat16:
    case dtype::string: break;
  }
  return {};
}

std::string npy_header(dtype d, std::span<const std::int64_t> shape, std::size_t bytes_min) {
  SLUICE_REQUIRES(npy_descr(d), "numpy has no such dtype");
  std::string out(kNpyVersion1);
  out += "\0\0";  // the length of the rest, set below
  out.resize(kNpyVersion1.size() + 2);
  out += "{'descr': '";
  out += *npy_descr(d);
  out += "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i != shape.size(); ++i) {
    if (i != 0) out += ", ";
    out += std::to_string(shape[i]);
  }
  out += shape.size() == 1 ? ",), }" : "), }";
  const std::size_t size = std::max(bytes_min, (out.size() + 1 + kNpyAlignment - 1) / kNpyAlignment * kNpyAlignment);
  out.resize(size - 1, ' ');
  out += '\n';
  const std::size_t length = size - kNpyVersion1.size() - 2;  // at most some hundred bytes: ranks are at most 9
  out[kNpyVersion1.size()] = static_cast<char>(length & 0xff);
  out[kNpyVersion1.size() + 1] = static_cast<char>(length >> 8);
  return out;
}

std::size_t npy_header_room(dtype d, std::span<const std::int64_t> inner_shape) {
  std::vector<std::int64_t> longest{INT64_MAX};
  longest.insert(longest.end(), inner_shape.begin(), inner_shape.end());
  return npy_header(d, longest).size();
}

}  // namespace sluice::lib
