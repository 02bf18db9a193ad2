// SPDX-License-Identifier: Apache-2.0
// TFRecord framing: finds records in a window of bytes, checks both CRCs, writes frames, and finds the next record
// after damage.
//
//   length u64 LE | masked crc32c of the length u32 | data | masked crc32c of the data u32
//
//   tfrecord_scan s = scan_tfrecords({.bytes = window, .offset = at, .end = file_size}, views, 256);
//   // s.records views were written; s.used_bytes are consumed; s.needed_bytes of the next record, or s.why
//
// The scanner keeps no state and copies nothing: the views point into the window. A reader keeps the unused tail, reads
// at least `needed_bytes` from `offset + used_bytes` on, and calls again.
//
// Errors: data_loss: truncated header, truncated data, a wrong CRC of length or data, an impossible length. They do not
//         contain file, offset and record: the reader adds `in_file(path, offset + used_bytes, first + records)`.
// Requires: on x86-64 SSE 4.2 (2008), for its CRC instruction.
// Thread: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/base/status.hpp"
#include "sluice/element/slice.hpp"

namespace sluice::lib {

inline constexpr std::size_t kTfrecordHeaderBytes = 12;
inline constexpr std::size_t kTfrecordFooterBytes = 4;
inline constexpr std::size_t kTfrecordFramingBytes = kTfrecordHeaderBytes + kTfrecordFooterBytes;

/// Bytes to scan; the first is the first byte of a record's header.
struct tfrecord_window {
  std::string_view bytes;
  std::uint64_t offset = 0;                     ///< of bytes[0] in the (decompressed) file
  std::uint64_t end = provenance::kUnknown;     ///< size of the file, if it is known
  bool last = false;                            ///< nothing follows `bytes`
  std::uint64_t record_bytes_max = 1ull << 31;  ///< a longer record is damage: nothing is allocated for it
};

/// The result of a scan. Exactly one of these holds: the output is full; the window ended between records
/// (`needed_bytes` is then a header, or 0 with `last`); the next record is incomplete (`needed_bytes`) or damaged
/// (`why`).
struct tfrecord_scan {
  std::size_t records = 0;       ///< views written, or records skipped
  std::size_t used_bytes = 0;    ///< whole records, counted from the window's start
  std::size_t needed_bytes = 0;  ///< needed from used_bytes on to continue
  status why;                    ///< the error of the record at used_bytes
  /// After an error: the distance to the next record, if the framing was correct (only the data were damaged).
  /// Otherwise 0, and find_tfrecord must search.
  std::uint64_t damaged_bytes = 0;
};

/// Writes up to `records_max` views of records' data to `out`; both CRCs are checked.
tfrecord_scan scan_tfrecords(const tfrecord_window& window, std::string_view* out, std::size_t records_max);

/// Does the same for a window inside `owner`: builds records in uninitialized room at `out`, and adds all their
/// references to `owner` in one operation.
tfrecord_scan scan_tfrecords(const tfrecord_window& window, buffer& owner, record* out, std::size_t records_max);

/// Skips up to `records_max` records by reading their headers only, not their data. With a known `end`, `used_bytes`
/// may lie beyond the window, so that a reader seeks past large records.
tfrecord_scan pass_over_tfrecords(const tfrecord_window& window, std::size_t records_max);

/// Returns the first offset in [from, to) of the window at which a valid header of at most record_bytes_max begins. The
/// bytes after the header are not examined, so that the result does not depend on the size of the window: the record
/// may be damaged, or reach beyond the end. Returns npos if no header is found; search on from `to`, or from
/// `bytes.size() - 11` in the next window.
std::size_t find_tfrecord(const tfrecord_window& window, std::size_t from, std::size_t to = std::string_view::npos);

/// The twelve bytes before the data of a record, and the four after it.
std::array<char, kTfrecordHeaderBytes> tfrecord_header(std::uint64_t data_size);
std::array<char, kTfrecordFooterBytes> tfrecord_footer(std::string_view data);
void append_tfrecord(std::string& out, std::string_view data);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::append_tfrecord;
using lib::find_tfrecord;
using lib::scan_tfrecords;

}  // namespace sluice
