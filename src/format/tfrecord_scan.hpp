// SPDX-License-Identifier: Apache-2.0
// The scan loop of tfrecord.hpp, for any kind of output.
//
// It is a template, so that the loop over small records contains no call. Errors and ends, which are outside the loop,
// are handled in tfrecord.cpp.
#pragma once

#include "base/crc32c_inline.hpp"
#include "sluice/base/crc32c.hpp"
#include "sluice/format/tfrecord_frames.hpp"

namespace sluice::lib::detail {

/// Explains why the record at `used_bytes` was not scanned: stores the error, or the number of bytes needed, in `scan`.
void explain_tfrecord(const tfrecord_window& window, tfrecord_scan& scan, bool check_data);

/// Loads the bytes kFetchedAhead after p into the cache, as many as this record has. A reader that alternates between
/// files visits each for some records only; for so few the processor does not read ahead itself, and windows of many
/// files do not fit into the cache of a core.
inline void fetch_ahead(const char* p, const char* end, std::uint64_t size) {
  constexpr std::size_t kFetchedAhead = 1024, kLine = 64, kFetchedBytes = 512;
  if (size > kFetchedBytes || static_cast<std::size_t>(end - p) < kFetchedAhead + kFetchedBytes + kLine) return;
  for (std::size_t at = 0; at < size + kTfrecordFramingBytes; at += kLine) __builtin_prefetch(p + kFetchedAhead + at);
}

/// Calls `emit(index, data, size)` for each valid record, in order.
template <class Emit>
SLUICE_TARGET_CRC inline tfrecord_scan scan_with(const tfrecord_window& window, std::size_t records_max, Emit emit) {
  tfrecord_scan scan;
  const char* const begin = window.bytes.data();
  const char* p = begin;
  const char* const end = begin + window.bytes.size();
  std::size_t records = 0;
  while (records < records_max && static_cast<std::size_t>(end - p) >= kTfrecordFramingBytes) {
    std::uint64_t size;
    std::uint32_t size_crc, data_crc;
    std::memcpy(&size, p, 8);
    std::memcpy(&size_crc, p + 8, 4);
    if (mask_crc(~inverted_crc(p, 8, ~0u)) != size_crc) break;
    if (size > static_cast<std::size_t>(end - p) - kTfrecordFramingBytes || size > window.record_bytes_max) break;
    const char* data = p + kTfrecordHeaderBytes;
    fetch_ahead(p, end, size);
    std::memcpy(&data_crc, data + size, 4);
    if (mask_crc(~inverted_crc(data, size, ~0u)) != data_crc) break;
    emit(records++, data, static_cast<std::size_t>(size));
    p = data + size + kTfrecordFooterBytes;
  }
  scan.records = records;
  scan.used_bytes = static_cast<std::size_t>(p - begin);
  if (records < records_max) explain_tfrecord(window, scan, true);
  return scan;
}

}  // namespace sluice::lib::detail
