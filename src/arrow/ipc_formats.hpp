// SPDX-License-Identifier: Apache-2.0
// Format strings of the C data interface, and the buffers that they imply for an array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/arrow/c_data.hpp"

namespace sluice::lib::arrow {

/// The buffers of an array.
enum class ipc_layout : std::uint8_t {
  none,          ///< null: no buffers
  bits,          ///< bool: validity, bits
  fixed,         ///< validity, `width` bytes per value
  texts,         ///< validity, offsets of `width` bytes, bytes
  lists,         ///< validity, offsets of `width` bytes; a child
  fixed_lists,   ///< validity; a child with `width` values per value
  members,       ///< validity; children with one value per value
  views,         ///< validity, 16 bytes per value; buffers of bytes, and, in the C data interface, their lengths
  list_views,    ///< validity, offsets and sizes of `width` bytes; a child
  runs,          ///< no buffers; two children: the ends of the runs, and their values
  sparse_union,  ///< type ids; children with one value per value
  dense_union,   ///< type ids, offsets; children
  not_supported  ///< no format of this program
};

struct ipc_form {
  ipc_layout layout = ipc_layout::not_supported;
  std::int64_t width = 0;
};

/// Parses a format string.
ipc_form ipc_form_of(std::string_view format);

/// The metadata of a column, such as the name and the shape of an extension type.
using ipc_pairs = std::vector<std::pair<std::string, std::string>>;
/// Reads and writes metadata in the layout of the C data interface. `metadata`: may be null.
ipc_pairs ipc_pairs_of(const char* metadata);
std::string ipc_metadata_of(const ipc_pairs& pairs);

/// Returns the shape of the values of arrow.fixed_shape_tensor; nothing for other columns, and for tensors whose
/// dimensions are permuted.
std::optional<std::vector<std::int64_t>> ipc_tensor_shape(const ArrowSchema& s);

inline std::string_view ipc_format_of(const ArrowSchema& s) { return s.format ? s.format : ""; }
inline std::string_view ipc_name_of(const ArrowSchema& s) { return s.name ? s.name : ""; }

}  // namespace sluice::lib::arrow
