// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/fixed_length_scan.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <new>

namespace sluice::lib {
namespace {

/// Returns the size of the file as far as the window shows it.
std::uint64_t end_of(const fixed_length_window& w) { return w.last ? w.offset + w.bytes.size() : w.end; }

/// Adds sizes that a user declared. The sum is limited to the largest number.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}

/// Finds the run of whole records at the window's start: `records` of them, after `used_bytes` of header.
fixed_length_scan find_run(const fixed_length_layout& layout, const fixed_length_window& w, std::size_t records_max) {
  fixed_length_scan scan;
  const std::uint64_t end = end_of(w);
  if (end != provenance::kUnknown) scan.why = layout.check(end);
  if (w.end != provenance::kUnknown && !scan.why.ok()) return scan;  // known from the start: no record is delivered
  const std::uint64_t before = w.offset < layout.header_bytes ? layout.header_bytes - w.offset : 0;
  if (before > w.bytes.size()) {
    if (scan.why.ok()) scan.needed_bytes = sum_of(before, sum_of(layout.record_bytes, layout.footer_bytes));
    return scan;
  }
  scan.used_bytes = before;
  // The footer must follow the last record: in the file, if its end is known, or else in the window.
  std::uint64_t have = w.bytes.size() - before;
  if (end == provenance::kUnknown) {
    have -= std::min(have, layout.footer_bytes);
  } else {
    const std::uint64_t from = w.offset + before;
    const std::uint64_t records_end = end > layout.footer_bytes ? end - layout.footer_bytes : 0;
    have = std::min(have, records_end > from ? records_end - from : 0);
    if (scan.why.ok() && records_end <= from) {
      if (records_end < from) scan.why = data_loss_error("no record begins here: this is inside of the footer");
      return scan;
    }
  }
  scan.records = std::min<std::uint64_t>(have / layout.record_bytes, records_max);
  if (scan.records == records_max) scan.why = {};
  else if (scan.why.ok())
    scan.needed_bytes =
        end == provenance::kUnknown ? sum_of(layout.record_bytes, layout.footer_bytes) : layout.record_bytes;
  return scan;
}

/// Completes the result of find_run: at the end of a known file no more bytes are needed.
void settle(const fixed_length_layout& layout, const fixed_length_window& w, fixed_length_scan& scan,
            std::size_t first) {
  scan.used_bytes = first + scan.records * layout.record_bytes;
  const std::uint64_t end = end_of(w);
  if (end != provenance::kUnknown && sum_of(w.offset + scan.used_bytes, layout.footer_bytes) >= end)
    scan.needed_bytes = 0;
}

template <class Emit>
fixed_length_scan scan_with(const fixed_length_layout& layout, const fixed_length_window& w, std::size_t records_max,
                            Emit emit) {
  fixed_length_scan scan = find_run(layout, w, records_max);
  const std::size_t first = scan.used_bytes;
  const char* p = w.bytes.data() + first;
  for (std::size_t i = 0; i < scan.records; ++i, p += layout.record_bytes) emit(i, p);
  settle(layout, w, scan, first);
  return scan;
}

}  // namespace

status fixed_length_layout::check(std::uint64_t file_bytes) const {
  if (record_bytes == 0) return invalid_argument_error("records of 0 bytes cannot be read");
  const std::string parts = absl::StrCat("a header of ", header_bytes, ", records of ", record_bytes,
                                         " and a footer of ", footer_bytes, " bytes");
  if (header_bytes > file_bytes || footer_bytes > file_bytes - header_bytes)
    return invalid_argument_error(absl::StrCat("the file has ", file_bytes, " bytes, too few for ", parts));
  const std::uint64_t over = (file_bytes - header_bytes - footer_bytes) % record_bytes;
  if (over == 0) return {};
  return invalid_argument_error(
      absl::StrCat("the file has ", file_bytes, " bytes: with ", parts, ", ", over, " are left over"));
}

fixed_length_scan scan_fixed_length(const fixed_length_layout& layout, const fixed_length_window& window,
                                    std::string_view* out, std::size_t records_max) {
  return scan_with(layout, window, records_max,
                   [&](std::size_t i, const char* p) { out[i] = {p, static_cast<std::size_t>(layout.record_bytes)}; });
}

fixed_length_scan scan_fixed_length(const fixed_length_layout& layout, const fixed_length_window& window, buffer& owner,
                                    record* out, std::size_t records_max) {
  fixed_length_scan scan = scan_with(layout, window, records_max, [&](std::size_t i, const char* p) {
    ::new (static_cast<void*>(out + i)) record(&owner, p, layout.record_bytes);
  });
  owner.add_references(static_cast<std::uint32_t>(scan.records));
  return scan;
}

}  // namespace sluice::lib
