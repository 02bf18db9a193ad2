// SPDX-License-Identifier: Apache-2.0
// Format strings of the C data interface, and what they mean for an array's buffers.
#pragma once

#include <cstdint>
#include <string_view>

#include "sluice/arrow/c_data.hpp"

namespace sluice::lib::arrow {

/// What buffers an array has.
enum class ipc_layout : std::uint8_t {
  none,          ///< null: none at all
  bits,          ///< bool: validity, bits
  fixed,         ///< validity, `width` bytes a value
  texts,         ///< validity, offsets of `width` bytes, bytes
  lists,         ///< validity, offsets of `width` bytes; a child
  fixed_lists,   ///< validity; a child with `width` values for each
  members,       ///< validity; children with a value for each
  not_supported  ///< a view, a union, runs
};

struct ipc_form {
  ipc_layout layout = ipc_layout::not_supported;
  std::int64_t width = 0;
};

/// Of a format string.
ipc_form ipc_form_of(std::string_view format);

inline std::string_view ipc_format_of(const ArrowSchema& s) { return s.format ? s.format : ""; }
inline std::string_view ipc_name_of(const ArrowSchema& s) { return s.name ? s.name : ""; }

}  // namespace sluice::lib::arrow
