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

inline constexpr std::size_t kNpyAlignment = 64;  ///< of the first value in the file

/// "<f4", "|b1" …; nothing of bfloat16 and string, which NumPy does not have in this form.
std::optional<std::string_view> npy_descr(dtype d);

/// A header of at least `bytes_min` bytes (a multiple of kNpyAlignment). REQUIRES: npy_descr(d).
std::string npy_header(dtype d, std::span<const std::int64_t> shape, std::size_t bytes_min = kNpyAlignment);

/// So long that the header fits whatever the first length is.
std::size_t npy_header_room(dtype d, std::span<const std::int64_t> inner_shape);

}  // namespace sluice::lib
