// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/tfrecord_frames.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cstring>
#include <new>

#include "format/tfrecord_scan.hpp"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "TFRecord is little-endian; so is every target of ours");

namespace sluice::lib {
namespace {

template <class T> T load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

status wrong_crc(std::string_view what, std::uint32_t stored, std::uint32_t computed) {
  return data_loss_error(absl::StrFormat("the crc of the %s is 0x%08x, but 0x%08x was stored: the record is damaged",
                                         std::string(what), computed, unmask_crc(stored)));
}

struct header {
  std::uint64_t size;
  std::uint32_t masked_crc, computed_crc;
};

header read_header(const char* p) { return {load<std::uint64_t>(p), load<std::uint32_t>(p + 8), crc32c({p, 8})}; }
bool sound(const header& h) { return mask_crc(h.computed_crc) == h.masked_crc; }

/// Returns the number of bytes from `position` to the end of the file, as far as it is known.
std::uint64_t bytes_after(const tfrecord_window& w, std::size_t position) {
  if (w.last) return w.bytes.size() - position;
  if (w.end == provenance::kUnknown) return provenance::kUnknown;
  std::uint64_t at = w.offset + position;
  return w.end > at ? w.end - at : 0;
}

/// Returns ok if a record with this header fits into the file.
status check_size(const tfrecord_window& w, std::size_t position, std::uint64_t size) {
  std::uint64_t rest = bytes_after(w, position);
  if (rest != provenance::kUnknown && (rest < kTfrecordFramingBytes || size > rest - kTfrecordFramingBytes)) {
    std::uint64_t data = rest > kTfrecordHeaderBytes ? rest - kTfrecordHeaderBytes : 0;
    return data_loss_error(absl::StrCat("the record claims ", size, " bytes of data and a crc of 4, but the file ends ",
                                        data, " bytes after its header: it is truncated"));
  }
  if (size > w.record_bytes_max)
    return data_loss_error(
        absl::StrCat("the record claims ", size, " bytes of data, more than the limit of ", w.record_bytes_max));
  return {};
}

/// Skips records like the scan loop, but without their data: a record may reach beyond the window.
void pass_over(const tfrecord_window& w, tfrecord_scan& scan, std::size_t records_max) {
  while (scan.records < records_max && scan.used_bytes + kTfrecordHeaderBytes <= w.bytes.size()) {
    header h = read_header(w.bytes.data() + scan.used_bytes);
    if (!sound(h) || !check_size(w, scan.used_bytes, h.size).ok()) return;
    std::uint64_t whole = h.size + kTfrecordFramingBytes;
    if (w.end == provenance::kUnknown && whole > w.bytes.size() - scan.used_bytes) return;
    scan.used_bytes += whole;
    ++scan.records;
  }
}

}  // namespace

namespace detail {

void explain_tfrecord(const tfrecord_window& w, tfrecord_scan& scan, bool check_data) {
  if (scan.used_bytes > w.bytes.size()) {
    scan.needed_bytes = kTfrecordHeaderBytes;
    return;
  }
  const char* p = w.bytes.data() + scan.used_bytes;
  const std::size_t have = w.bytes.size() - scan.used_bytes;
  const std::uint64_t rest = bytes_after(w, scan.used_bytes);
  if (have == 0 && (w.last || rest == 0)) return;
  if (rest < kTfrecordHeaderBytes) {
    scan.why = data_loss_error(absl::StrCat("the file ends ", rest, " bytes into a record's header of ",
                                            kTfrecordHeaderBytes, ": it is truncated"));
    return;
  }
  if (have < kTfrecordHeaderBytes) {
    scan.needed_bytes = kTfrecordHeaderBytes;
    return;
  }
  header h = read_header(p);
  if (!sound(h)) {
    scan.why = wrong_crc("length", h.masked_crc, h.computed_crc);
    if (w.offset + scan.used_bytes == 0)
      scan.why = scan.why.with_message(absl::StrCat(std::string(scan.why.message()), ", or this is no TFRecord file"));
    return;
  }
  scan.why = check_size(w, scan.used_bytes, h.size);
  if (!scan.why.ok()) return;
  const std::uint64_t whole = h.size + kTfrecordFramingBytes;
  if (have < whole) {
    scan.needed_bytes = whole;
    return;
  }
  if (!check_data) return;
  std::uint32_t stored = load<std::uint32_t>(p + kTfrecordHeaderBytes + h.size);
  std::uint32_t computed = crc32c({p + kTfrecordHeaderBytes, h.size});
  if (mask_crc(computed) == stored) return;
  scan.why = wrong_crc("data", stored, computed);
  scan.damaged_bytes = whole;
}

}  // namespace detail

SLUICE_TARGET_CRC tfrecord_scan scan_tfrecords(const tfrecord_window& window, std::string_view* out, std::size_t n) {
  return detail::scan_with(window, n,
                           [out](std::size_t i, const char* data, std::size_t size) { out[i] = {data, size}; });
}

SLUICE_TARGET_CRC tfrecord_scan scan_tfrecords(const tfrecord_window& window, buffer& owner, record* out,
                                               std::size_t n) {
  tfrecord_scan scan = detail::scan_with(window, n, [&owner, out](std::size_t i, const char* data, std::size_t size) {
    ::new (static_cast<void*>(out + i)) record(&owner, data, size);
  });
  owner.add_references(static_cast<std::uint32_t>(scan.records));
  return scan;
}

tfrecord_scan pass_over_tfrecords(const tfrecord_window& window, std::size_t records_max) {
  tfrecord_scan scan;
  pass_over(window, scan, records_max);
  if (scan.records < records_max) detail::explain_tfrecord(window, scan, false);
  return scan;
}

std::size_t find_tfrecord(const tfrecord_window& w, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to && at + kTfrecordHeaderBytes <= w.bytes.size(); ++at) {
    header h = read_header(w.bytes.data() + at);
    if (sound(h) && h.size <= w.record_bytes_max) return at;
  }
  return std::string_view::npos;
}

std::array<char, kTfrecordHeaderBytes> tfrecord_header(std::uint64_t data_size) {
  std::array<char, kTfrecordHeaderBytes> bytes;
  std::memcpy(bytes.data(), &data_size, 8);
  std::uint32_t masked = mask_crc(crc32c({bytes.data(), 8}));
  std::memcpy(bytes.data() + 8, &masked, 4);
  return bytes;
}

std::array<char, kTfrecordFooterBytes> tfrecord_footer(std::string_view data) {
  std::array<char, kTfrecordFooterBytes> bytes;
  std::uint32_t masked = mask_crc(crc32c(data));
  std::memcpy(bytes.data(), &masked, 4);
  return bytes;
}

void append_tfrecord(std::string& out, std::string_view data) {
  auto header = tfrecord_header(data.size());
  auto footer = tfrecord_footer(data);
  out.append(header.data(), header.size()).append(data).append(footer.data(), footer.size());
}

}  // namespace sluice::lib
