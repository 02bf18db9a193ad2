// SPDX-License-Identifier: Apache-2.0
// Files of records of one length, between a header and a footer that are skipped.
//
//   fixed_length_layout layout{.record_bytes = 784, .header_bytes = 16};
//   fixed_length_scan s = scan_fixed_length(layout, {.bytes = window, .offset = at, .end = file_size}, views, 256);
//
// Errors: invalid_argument: the file is shorter than header and footer, or the rest is not a whole number of records.
//         This is known before the first record if the size is known, and at the end of a compressed file. The reader
//         adds `in_file(path, offset + used_bytes)`.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sluice/base/status.hpp"
#include "sluice/element/slice.hpp"

namespace sluice::lib {

struct fixed_length_layout {
  std::uint64_t record_bytes = 1;  ///< at least 1
  std::uint64_t header_bytes = 0;
  std::uint64_t footer_bytes = 0;

  /// Returns ok if a file of this size has this layout.
  status check(std::uint64_t file_bytes) const;
  /// The offset of record i. Records of a plain file are found without reading the records before them.
  std::uint64_t offset_of(std::uint64_t record_index) const noexcept {
    return header_bytes + record_index * record_bytes;
  }
  std::uint64_t records_in(std::uint64_t file_bytes) const noexcept {
    return (file_bytes - header_bytes - footer_bytes) / record_bytes;
  }
};

struct fixed_length_window {
  std::string_view bytes;                    ///< starts at the file's start, or at a record's first byte
  std::uint64_t offset = 0;                  ///< of bytes[0] in the (decompressed) file
  std::uint64_t end = provenance::kUnknown;  ///< size of the file, if it is known
  bool last = false;                         ///< nothing follows `bytes`
};

struct fixed_length_scan {
  std::size_t records = 0;
  std::size_t used_bytes = 0;  ///< of the records and the header
  /// The number of bytes needed from used_bytes on to continue. 0: `out` is full, the file has ended, or `why` is set.
  std::size_t needed_bytes = 0;
  status why;
};

/// Writes up to `records_max` views to `out`. If the size is unknown, the last records are withheld until they are
/// known not to be part of the footer.
fixed_length_scan scan_fixed_length(const fixed_length_layout& layout, const fixed_length_window& window,
                                    std::string_view* out, std::size_t records_max);

/// Does the same for a window inside `owner`: builds records in uninitialized room at `out`, and adds all their
/// references to `owner` in one operation.
fixed_length_scan scan_fixed_length(const fixed_length_layout& layout, const fixed_length_window& window, buffer& owner,
                                    record* out, std::size_t records_max);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::scan_fixed_length;

}  // namespace sluice
