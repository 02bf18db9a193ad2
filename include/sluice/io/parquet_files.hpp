// SPDX-License-Identifier: Apache-2.0
// The seam of Parquet files: a library that decodes and encodes them, behind functions that read and write no files. The
// operator `parquet` and the output format `parquet` use it. A program that has linked a library registers it once, with
// register_parquet() (io/arrow_parquet.hpp).
//
//   std::uint64_t at = *find_parquet_footer(tail, size_bytes);            // by the last 8 bytes of the file
//   auto file = open_parquet(footer_bytes, size_bytes);                   // the bytes from `at` to the file's end
//   for (std::size_t g = 0; g != file->groups(); ++g) {
//     auto wanted = file->ranges(g, columns);                             // the caller reads these bytes
//     auto rows = file->read(g, columns, parts, memory, 1024);
//     while (rows->next(1024, &array)) …                                  // arrays of file->schema(columns)
//   }
//
// The caller reads all bytes of a group's columns before read(), several ranges at once, with its own files, deadlines
// and budget; the library only computes.
// Errors: thrown, as `error`: data_loss: the file violates the format; the message names the column; unimplemented: an
//         encrypted file, or a feature that the library lacks; resource_exhausted: `memory` has refused bytes;
//         invalid_argument: a type that cannot be written.
// Thread: use_parquet(): any. A parquet_file may be used by several threads; parquet_rows and parquet_writer by one at a
//         time, except for parquet_rows::decode(). Calls compute for long: milliseconds for a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/arrow/c_data.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

/// Bytes of a file.
struct file_range {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};
/// Bytes of a file that are in memory, from the start of a buffer.
struct file_part {
  file_range place{};
  buffer_ref data{};
};

/// Counts the memory that a library allocates.
class library_memory {
 public:
  /// Returns false, and counts nothing, if `bytes` more would exceed the limit.
  virtual bool grow(std::size_t bytes) noexcept = 0;
  virtual void shrink(std::size_t bytes) noexcept = 0;

 protected:
  ~library_memory() = default;
};

/// The statistics of one column in one row group, as the footer states them.
struct column_bounds {
  enum kind_type : std::uint8_t { unknown, whole, real, text } kind = unknown;
  std::int64_t whole_min = 0, whole_max = 0;  ///< whole: of integers, dates and times (as their numbers)
  double real_min = 0, real_max = 0;          ///< real: of floating-point numbers; NaN may occur besides
  std::string text_min{}, text_max{};         ///< text: compared as bytes; may be shortened, and are bounds then too
  std::optional<std::uint64_t> nulls{};       ///< the number of rows without a value, if it is stated
};

/// The rows of one page of a column, and its statistics.
struct page_bounds {
  std::uint64_t first_row = 0, rows = 0;  ///< in the group
  column_bounds bounds{};
};
/// The places of what a file has about a column in one row group besides the footer. Without bytes: it has none.
struct column_indexes {
  file_range bounds{}, places{};  ///< the statistics of its pages, and their places
  file_range bloom{};             ///< the bloom filter of its values
};

/// The numbers of columns of the file's rows (not of the leaves of nested columns), ascending.
using parquet_columns = std::vector<std::size_t>;

/// The rows of one row group.
class parquet_rows {
 public:
  virtual ~parquet_rows() = default;
  /// Decodes the next rows, at most n, into `out`: a struct with a child for each column. Returns false at the end. The
  /// caller releases `out`, before this object is destroyed.
  virtual bool next(std::size_t n, ArrowArray* out) = 0;
  /// Decodes in advance what the following next() needs, of one of `parts` parts, into which the columns are divided. Their
  /// errors are those of next(). Thread: different parts at the same time; next() is called after them.
  virtual void decode(std::size_t part, std::size_t parts) noexcept { (void)part, (void)parts; }
};

/// The footer of a file.
class parquet_file {
 public:
  virtual ~parquet_file() = default;
  /// A struct with a child for each column. Valid as long as this object.
  virtual const ArrowSchema& schema() const = 0;
  virtual std::size_t groups() const = 0;
  virtual std::uint64_t rows(std::size_t group) const = 0;
  /// The size of the decoded values of a group's columns, as far as the footer states it: that of texts of a dictionary is
  /// estimated from their minimum and maximum if the file has no statistics of sizes.
  virtual std::uint64_t decoded_bytes(std::size_t group, const parquet_columns& columns) const = 0;
  /// The ranges of the file that read() needs, ascending. Each is within the file.
  virtual std::vector<file_range> ranges(std::size_t group, const parquet_columns& columns) const = 0;
  virtual column_bounds bounds(std::size_t group, std::size_t column) const = 0;
  virtual column_indexes indexes(std::size_t group, std::size_t column) const = 0;
  /// Reads the indexes of pages, whose bytes these are. Returns pages that have all rows of the group; or none if an index
  /// is damaged, or the order of the column's values is unknown.
  virtual std::vector<page_bounds> pages(std::size_t group, std::size_t column, std::string_view bounds,
                                         std::string_view places) const = 0;
  /// Returns true if the bloom filter, whose bytes these are, excludes that the column has this value. False if it is
  /// damaged, or the column has values of another type.
  virtual bool lacks(std::size_t column, std::string_view bloom, std::int64_t value) const = 0;
  virtual bool lacks(std::size_t column, std::string_view bloom, std::string_view value) const = 0;
  /// Begins a group. `parts`: contain all its ranges(). `rows_at_once`: the number of rows that next() requests, and
  /// that the library decodes at a time. `memory` outlives the result.
  virtual std::unique_ptr<parquet_rows> read(std::size_t group, const parquet_columns& columns,
                                             std::vector<file_part> parts, library_memory& memory,
                                             std::size_t rows_at_once) const = 0;
};

struct parquet_writing {
  enum codec_type : std::uint8_t { none, snappy, gzip, zstd, lz4 } codec = zstd;
};

/// Encodes a file. Each call of append() adds a row group.
class parquet_writer {
 public:
  virtual ~parquet_writer() = default;
  /// Appends the bytes before the first group.
  virtual void begin(std::string& to) = 0;
  /// Appends a row group of these rows, which it releases.
  virtual void append(ArrowArray* rows, std::string& to) = 0;
  /// Appends the footer.
  virtual void end(std::string& to) = 0;
  /// The description of the groups so far, for load() of another writer of the same schema, which continues the file.
  virtual std::string save() const = 0;
  virtual void load(std::string_view saved) = 0;
};

/// The functions of a library.
struct parquet_library {
  /// `footer`: the last bytes of the file, from the offset that find_parquet_footer() returns.
  std::unique_ptr<parquet_file> (*open)(std::string_view footer, std::uint64_t size_bytes) = nullptr;
  std::unique_ptr<parquet_writer> (*write)(const ArrowSchema& schema, const parquet_writing& how) = nullptr;
};

/// Sets the library from now on. Thread: any.
void use_parquet(const parquet_library& library);
bool has_parquet() noexcept;
/// Errors: throws failed_precondition if this program has no library; and those above.
std::unique_ptr<parquet_file> open_parquet(std::string_view footer, std::uint64_t size_bytes);
std::unique_ptr<parquet_writer> write_parquet(const ArrowSchema& schema, const parquet_writing& how);

inline constexpr std::size_t kParquetTailBytes = 8;
/// `tail`: the last bytes of a file, at least kParquetTailBytes if the file has so many. Returns where the footer begins.
/// Errors: data_loss: no Parquet file, or cut short; unimplemented: an encrypted footer.
result<std::uint64_t> find_parquet_footer(std::string_view tail, std::uint64_t size_bytes);

}  // namespace sluice::lib
