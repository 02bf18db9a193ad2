// SPDX-License-Identifier: Apache-2.0
// The stage of tfrecord, lines, csv and other sources of files. It reads a file through a byte window, in which a
// format finds the elements.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/batching/row_landing.hpp"
#include "engine/lowering/open_context.hpp"
#include "input/byte_source.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

/// The result of a format's search in a byte window.
struct found {
  std::size_t elements = 0;      ///< elements built or skipped
  std::uint64_t used_bytes = 0;  ///< bytes that are done with; when skipping, possibly more than the window contains
  std::size_t needed_bytes = 0;  ///< the length that the window must have to continue, counted from used_bytes
  /// without an element: no element ends in this number of bytes, and the search continues after them if the window has
  /// more
  std::size_t searched_bytes = 0;
  status why;                       ///< the error of the element at used_bytes
  std::uint64_t damaged_bytes = 0;  ///< after an error: the distance to the next element; 0: unknown
  bool ended = false;               ///< the file has no more elements
};

/// A file format, which finds elements in byte windows. A stage uses one object for all its files. The position in a
/// file is a byte offset and an element index; a format reads anything else, such as the schema of an Arrow stream,
/// again.
class element_format {
 public:
  virtual ~element_format() = default;
  virtual found scan(const byte_window& w, buffer& owner, void* to, std::size_t elements_max) const = 0;
  virtual found pass_over(const byte_window& w, std::uint64_t elements_max) const = 0;
  /// Scans like scan(), but appends the elements to `rows` and builds a receipt for each at uninitialised `receipts`.
  /// Only formats passed to open_file_rows() implement it.
  virtual found scan_rows(const byte_window& w, column& rows, landed_row* receipts, std::size_t rows_max) const;
  /// Returns where the next element may begin in [from, to) of the window after damage of unknown length; npos: nowhere
  /// there.
  virtual std::size_t find_next(const byte_window& w, std::size_t from, std::size_t to) const;
  /// Returns false if such damage also drops the rest of the file.
  virtual bool searches_behind_damage() const { return true; }
  /// Returns the number of bytes at a window's end that may contain the start of an element that find_next did not
  /// find.
  virtual std::size_t overlap_bytes() const { return 0; }
  /// Returns true if skipping does not check elements, so that damaged ones count too.
  virtual bool skips_unchecked() const { return false; }
  /// The number of bytes before an offset that may_begin needs to decide whether an element can begin there.
  virtual std::size_t bytes_before() const { return 0; }
  /// Returns true if an element can begin at the start of `rest`, which is not the start of the file. Otherwise a
  /// position at this offset is valid only at the file's end.
  virtual bool may_begin(const byte_window& rest, std::string_view before) const {
    (void)rest, (void)before;
    return true;
  }
  /// Returns true if elements cannot be read without the start of the file (for example a schema). A resume reads it
  /// first with read_head, which returns its length in used_bytes. Without a resume scan() and pass_over() receive it
  /// at offset 0.
  virtual bool has_head() const { return false; }
  virtual found read_head(const byte_window& w) const {
    (void)w;
    return {};
  }
  /// Reads, between the head and the element at `offset` where a resume continues, what later elements depend on (for
  /// example dictionaries). Called until used_bytes have led there. By default everything is skipped.
  virtual found read_before(const byte_window& w, std::uint64_t offset) const {
    found f;
    f.used_bytes = offset - w.offset;
    return f;
  }
  /// The framing of the elements, for an index (format/record_index.hpp): formats of the same framing find elements at
  /// the same offsets. Empty: files of this format have no index.
  virtual std::string index_kind() const { return {}; }
  /// Returns the ranges of the file that the next scan of an element does not look at, in order. `w`: the beginning of
  /// the element, which needs a longer window.
  virtual std::vector<byte_range> unread(const byte_window& w) const {
    (void)w;
    return {};
  }
  /// Returns true if skipping elements of a file that is not compressed reads nothing, so that no index is looked for.
  virtual bool skips_without_index() const { return false; }
  /// Returns true if an element begins at the start of `rest`, where an index says so; `rest` has place_bytes(), or the
  /// rest of the file.
  virtual bool is_place(const byte_window& rest, std::string_view before) const { return may_begin(rest, before); }
  virtual std::size_t place_bytes() const { return 1; }
  /// Checks a file after it was opened. `end`: its size; kUnknown for compressed files.
  virtual status check(std::uint64_t end) const {
    (void)end;
    return {};
  }
};

/// The initial value of an autotuned reads_in_flight: four reads hide the latency of one if a server answers in a few
/// milliseconds.
inline constexpr std::int64_t kReadsInFlight = 4;

/// The first read of a stage whose elements are requested by their numbers: many of them may be far from each other.
inline constexpr std::size_t kPickedReadBytes = std::size_t{8} << 10;

inline inflate_limits limits_of(size_limit bytes, ratio_limit ratio) {
  inflate_limits limits;
  if (bytes.value) limits.bytes_max = static_cast<std::uint64_t>(bytes.value);
  if (ratio.value) limits.ratio_max = static_cast<std::uint64_t>(ratio.value);
  return limits;
}

/// Returns the estimate of file sizes, from the files that this stage has read.
size_estimate& sizes_of_files(const node& n, const open_context& context);

/// The options for reading, from an operator's arguments.
template <class Arguments> byte_source_options reading_with(const node& n, const open_context& context) {
  auto& a = n.as<Arguments>();
  byte_source_options reading;
  reading.path = a.path.value;
  reading.compression = a.options.compression;
  reading.read_bytes = static_cast<std::size_t>(a.options.read_bytes.value);
  reading.cache = a.options.cache;
  reading.inflated = limits_of(a.options.inflated_bytes_max, a.options.inflate_ratio_max);
  reading.reads_in_flight = &context.live(n, a.options.reads_in_flight, kReadsInFlight);
  if (a.options.reads_in_flight.is_autotuned()) reading.reads_untouched = kReadsInFlight;
  reading.sizes = &sizes_of_files(n, context);
  if constexpr (requires { a.options.index; }) {
    reading.index = a.options.index;
    if (context.on_demand && reading.index == file_index::required) reading.first_read_bytes = kPickedReadBytes;
  }
  return reading;
}

erased_stream open_file_stage(const node& n, open_context& context, byte_source_options o,
                              std::shared_ptr<const element_format> format);
/// Opens a stage of other elements than those of the node: of `type`.
erased_stream open_file_elements(const node& n, open_context& context, byte_source_options o,
                                 std::shared_ptr<const element_format> format, const element_type& type);
/// Opens the stage with rows in the consumer's columns (op_info::open_rows).
erased_stream open_file_rows(const node& n, open_context& context, byte_source_options o,
                             std::shared_ptr<const element_format> format, std::shared_ptr<row_landing> landing);

}  // namespace sluice::lib
