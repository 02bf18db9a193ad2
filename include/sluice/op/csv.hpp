// SPDX-License-Identifier: Apache-2.0
// csv: the rows of a CSV file as structures.
//
//   struct passenger { std::string name; double age; std::optional<float> fare; };
//   csv<passenger>("a.csv")                                 // the members are the fields, in order
//   csv<passenger>("a.csv", {.header = true})               // the members' names are those of the header
//   csv<passenger>("a.csv", "age = 'Age (years)': double = 0", {.header = true})
//   list_files("a-*.csv") | interleave(csv<passenger>({.header = true}))
//
// In plan text the columns are written as a text (format/csv_schema.hpp), csv("a.csv", "name: bytes, age: double, fare: float?",
// header=true), and the structure is made at run time; without one, csv("a.csv", header=true), they are inferred from the file's
// first 100 rows, when the plan is made.
//
// Shape:  a structure; what members may be is in format/csv_schema.hpp. With a header, columns are found by their names, and others
//         passed over; `select` says their numbers instead (from 0). Without both each field is a column. Inferred are int64, uint64,
//         double and bytes, as optionals where one of the 100 has no value (bytes: empty); numbers with leading zeros, as 01234, are bytes;
//         without a header they are c0, c1 … batch directly behind has the columns written without a structure between.
// Order:  as in the file. A row ends with \n, \r or \r\n; lines without a character, and comments, are no rows; a last one
//         without an end is one. A field that begins with a quote ends with one: within it delimiters and line ends are text, and
//         quotes are doubled. Spaces around numbers do not count.
// Errors: of the file, as in tfrecord. With the line (behind a resume, the record) and the column: invalid_argument: a field is
//         none of its type, or required and empty (or na_value, but a text "" is one); a row has another number of fields;
//         a quote stands where none can; the header lacks a column (then there is no row of that file). data_loss: a quote is not closed.
//         resource_exhausted: a row of more than 16 MiB, or of 4 Mi delimiters, quotes and line ends. Under
//         error_policy::skip the row is dropped; the next begins behind its line.
//         Where columns are inferred such a row among the first 100 refuses the plan, unless the call itself says on_error=skip; so
//         does a whole number that would be rounded, as its column has others that no integer of 64 bits holds.
// State:  byte offset and index of the next row. A resume reads the header, then goes there.
// Streams: as tfrecord, where the schema is given.
// See:    format/csv_schema.hpp, tf.data's CsvDataset in docs/from_tf_data.md
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/engine/column_schema.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info csv_op;

struct csv_options {
  bool header = false;                 ///< the first row has the columns' names
  std::string delimiter = ",";         ///< one character
  bool quotes = true;                  ///< false: a quote is a character as any other
  std::string comment{};               ///< a character: lines that begin with it are passed over
  std::string na_value{};              ///< a field that is this counts as an empty one
  std::vector<std::int64_t> select{};  ///< numbers of the fields that the columns are
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< reads at the same time, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< of what the kernel has read
  size_limit inflated_bytes_max = {};           ///< of a compressed file: one byte more is an error; 0: any size
  ratio_limit inflate_ratio_max = {};  ///< the same, as a multiple of the compressed bytes (beyond the first MiB)
};
struct csv_arguments {
  file_path path = {};            ///< "-": standard input
  column_schema_arg schema = {};  ///< the columns and their types; "": those of the file
  csv_options options = {};
};

/// The rows of one file. `schema`: names in the header, and defaults, of members; the others are what their types say.
template <class T> dataset<T> csv(std::string_view path, std::string_view schema, csv_options o = {}) {
  return dataset<T>(
      csv_op, arguments::of(csv_arguments{std::string(path), detail::columns_of<T>(schema, "csv"), std::move(o)}));
}
template <class T> dataset<T> csv(std::string_view path, csv_options o = {}) {
  return csv<T>(path, std::string_view(), std::move(o));
}
/// A reader for interleave and flat_map.
template <class T> file_reader<T> csv(csv_options o = {}) {
  return file_reader<T>(
      make_source(csv_op, arguments::of(csv_arguments{{}, detail::columns_of<T>({}, "csv"), std::move(o)})));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::csv;
using lib::csv_options;

}  // namespace sluice
