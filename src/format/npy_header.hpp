// SPDX-License-Identifier: Apache-2.0
// The header of a .npy file (NumPy's format, version 1.0): dtype and shape of one array, row-major.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sluice/element/dtype.hpp"

namespace sluice::lib {

inline constexpr std::size_t kNpyAlignment = 64;  ///< the alignment of the first value in the file

/// Returns "<f4", "|b1" …; nothing for bfloat16 and string, which NumPy does not have in this form.
std::optional<std::string_view> npy_descr(dtype d);

/// Returns a header of at least `bytes_min` bytes (a multiple of kNpyAlignment). REQUIRES: npy_descr(d).
std::string npy_header(dtype d, std::span<const std::int64_t> shape, std::size_t bytes_min = kNpyAlignment);

/// Returns the size in which a header with any first length fits.
std::size_t npy_header_room(dtype d, std::span<const std::int64_t> inner_shape);

}  // namespace sluice::lib
