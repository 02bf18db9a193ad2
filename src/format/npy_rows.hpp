// SPDX-License-Identifier: Apache-2.0
// Reads NumPy's file format: the header, and rows along the first dimension.
//
//   npy_head h;
//   npy_scan s = read_npy_head(bytes, h);       // the rows begin at s.used_bytes
//   tensor row = h.row(bytes_of_one, owner);    // shares the bytes if they are aligned
//   row = h.fortran_row(bytes_of_all, 7);       // of an array in Fortran order (h.is_fortran)
//
// Shape:  bool, int8 … int64, uint8 … uint64, float16, float32, float64, in both byte orders; datetime64 and
//         timedelta64 as int64; bytes (S) and texts (U) as strings without trailing zeros, texts in UTF-8.
// Errors: data_loss: the file is damaged. invalid_argument, unimplemented: the file has no rows of tensors: another
//         dtype, no dimension, rows without bytes.
// Thread: pure functions.
// See:    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {

struct npy_head {
  lib::dtype dtype = dtype::uint8;
  std::size_t item_bytes = 1;  ///< in the file
  bool is_swapped = false;     ///< big-endian
  bool is_utf32 = false;       ///< texts with four bytes a character
  bool is_fortran = false;     ///< the first dimension is the fastest, and another one exists
  std::vector<std::int64_t> shape{};
  tensor_shape row_shape{};
  std::uint64_t rows = 0, row_bytes = 0;

  /// Returns the size of an array with these dimensions. Errors: throws data_loss if it is larger than any file.
  std::uint64_t bytes_of(std::span<const std::int64_t> dims) const;
  /// Returns a row's bytes as a tensor. Errors: throws data_loss for an invalid character.
  tensor row(const char* bytes, buffer& owner) const;
  /// Returns a row of an array in Fortran order, whose items begin at `array`. Errors: as row().
  tensor fortran_row(const char* array, std::uint64_t index) const;
};

inline constexpr std::size_t kNpyHeadBytesMax = std::size_t{1} << 20;

struct npy_scan {
  std::size_t used_bytes = 0;
  std::size_t needed_bytes = 0;  ///< 0: no more are needed
  status why{};
};
/// Reads the header of an array of any shape: neither the rows nor their size are set.
npy_scan read_npy_array_head(std::string_view bytes, npy_head& to);
/// Does the same, and divides the array into rows.
npy_scan read_npy_head(std::string_view bytes, npy_head& to);

}  // namespace sluice::lib
