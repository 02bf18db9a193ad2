// SPDX-License-Identifier: Apache-2.0
// NumPy's file format: what its header says, and rows along the first dimension.
//
//   npy_head h;
//   npy_scan s = read_npy_head(bytes, h);       // s.used_bytes: where the rows begin
//   tensor row = h.row(bytes_of_one, owner);    // shares the bytes where they are aligned
//
// Shape:  bool, int8 … int64, uint8 … uint64, float16, float32, float64, of both byte orders; bytes (S) and texts (U) as strings:
//         without the zeros behind them, texts in UTF-8.
// Errors: data_loss: not such a file. invalid_argument, unimplemented: one that has no rows of tensors: another dtype, Fortran order,
//         no dimension, rows without bytes.
// Thread: pure functions.
// See:    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/base/status.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

struct npy_head {
  lib::dtype dtype = dtype::uint8;
  std::size_t item_bytes = 1;  ///< in the file
  bool is_swapped = false;     ///< big-endian
  bool is_utf32 = false;       ///< texts, four bytes a character
  tensor_shape row_shape{};
  std::uint64_t rows = 0, row_bytes = 0;

  /// A row's bytes as a tensor. Errors: throws data_loss where a character is none.
  tensor row(const char* bytes, buffer& owner) const;
};

inline constexpr std::size_t kNpyHeadBytesMax = std::size_t{1} << 20;

struct npy_scan {
  std::size_t used_bytes = 0;
  std::size_t needed_bytes = 0;  ///< 0: no more
  status why{};
};
npy_scan read_npy_head(std::string_view bytes, npy_head& to);

}  // namespace sluice::lib
