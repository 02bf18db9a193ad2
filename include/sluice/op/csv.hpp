// SPDX-License-Identifier: Apache-2.0
// csv: the rows of a CSV file as structures.
//
//   struct passenger { std::string name; double age; std::optional<float> fare; };
//   csv<passenger>("a.csv")                                 // the members are the fields, in order
//   csv<passenger>("a.csv", {.header = true})               // the members' names are those of the header
//   csv<passenger>("a.csv", "age = 'Age (years)': double = 0", {.header = true})
//   csv<passenger>("a-*.csv", {.header = true})             // the matching files, one after another
//   list_files("a-*.csv") | interleave(csv<passenger>({.header = true}))
//
// In plan text the columns are written as a text (format/csv_schema.hpp), csv("a.csv", "name: bytes, age: double, fare:
// float?", header=true), and the structure is built at run time. Without that text, csv("a.csv", header=true), the
// columns are inferred from the file's first 100 rows (`infer`) when the plan is built.
//
// Shape:  a structure; format/csv_schema.hpp lists the types that members may have. With a header, columns are found by
// their
//         names, and other columns are skipped; an optional that the header does not have is missing in all rows.
//         Alternatively `select` gives their numbers (from 0). Each field is a
//         column if there is neither a header nor `select`. The inferred types are int64, uint64, double and bytes. A
//         column in which one of the 100 rows has no value is an optional (a bytes column has an empty value instead).
//         Columns of several files are merged by name: one that a file lacks is an optional, int64 and double are
//         double.
//         Codes such as 01234 and 0x1F are bytes. A floating-point column also reads hexadecimal numbers (0x1p3) and
//         the words inf and nan. Without a header the inferred columns are named c0, c1 … If batch directly follows,
//         the rows are written into its columns without a structure in between.
// Order:  as in the file. A row ends with \n, \r or \r\n. Lines without characters, and comments, are not rows. A last
//         line without a line end is a row. A field that begins with a quote ends with a quote; within it, delimiters
//         and line ends are text, and a quote is written twice. With `escape`, the character after that one stands for
//         itself, in every field; parsing is then slower. Spaces around numbers are ignored.
// Errors: those of the file, as in tfrecord. The others name the line (after a resume, the record) and the column.
//         invalid_argument: a field does not have its column's type, is beyond its range (1e39 in a float), or is empty
//         (or equal to na_value) although it is required; a row has another number of fields; a quote is in a place
//         where none is allowed; the header lacks a column (the file then has no rows). data_loss: a quote is not
//         closed. resource_exhausted: a row has more than 16 MiB, or more than 4 Mi delimiters, quotes and line ends.
//         Under error_policy::skip the row is dropped; the next row begins after its line. Inference leaves bad rows
//         out, unless all are bad. A plan with inferred columns is rejected if a whole number would be rounded because
//         its column has other numbers that no 64-bit integer can represent, and if a column has numbers in one file
//         and
//         texts in another. A quoted "" is an empty field, except in a bytes column without a default. The run has a
//         warning if the first 64 KiB are not UTF-8.
// State:  byte offset and index of the next row, with any parallelism. A resume reads the header, then continues at
//         that offset.
// Thread: with parallelism one task cuts the file into rows, and others build elements of blocks of them, ahead of the
//         consumer. The rows count toward the run's memory.
// Streams: as tfrecord, if the schema is given.
// See:    format/csv_schema.hpp, tf.data's CsvDataset in docs/from_tf_data.md
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/index_types.hpp"
#include "sluice/engine/column_choice.hpp"
#include "sluice/engine/column_schema.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info csv_op;

struct csv_options {
  bool header = false;                 ///< the first row contains the columns' names
  std::string delimiter = ",";         ///< one character
  bool quotes = true;                  ///< false: a quote is an ordinary character
  std::string escape{};                ///< one character: the character after it stands for itself
  std::string comment{};               ///< one character: lines that begin with it are skipped
  std::string na_value{};              ///< a field with this text counts as empty
  std::vector<std::int64_t> select{};  ///< the numbers of the fields to read as columns
  std::int64_t infer = 100;            ///< the number of rows from which a missing schema is inferred; -1: all
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
  /// Blocks of rows parsed at once; more than 1 works ahead. Under error_policy::skip the stage parses one at a time.
  knob_up_to<65'536> parallelism = {};
  /// The use of the file's index, by which a skip finds its element without reading those before (`sluice index FILE`).
  file_index index = file_index::automatic;
};
struct csv_arguments {
  file_path path = {};            ///< "-": standard input
  column_schema_arg schema = {};  ///< the columns and their types; "": those of the file
  csv_options options = {};
  column_choice built = {};
};

/// Reads the rows of one file, or of those that a pattern matches. `schema` gives members' names in the header, and
/// their defaults; all other members are
/// read as their types say.
template <class T> dataset<T> csv(std::string_view path, std::string_view schema, csv_options o = {}) {
  return dataset<T>(
      csv_op, arguments::of(csv_arguments{std::string(path), detail::columns_of<T>(schema, "csv"), std::move(o)}));
}
template <class T> dataset<T> csv(std::string_view path, csv_options o = {}) {
  return csv<T>(path, std::string_view(), std::move(o));
}
/// Returns a reader for interleave and flat_map.
template <class T> file_reader<T> csv(csv_options o = {}) {
  return file_reader<T>(
      make_source(csv_op, arguments::of(csv_arguments{{}, detail::columns_of<T>({}, "csv"), std::move(o)})));
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, csv, csv_options, "csv<T>(\"a.csv\", {.header = true})", std::string_view)
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, csv, csv_options, "csv<T>(\"a.csv\", schema, {.header = true})",
                               std::string_view, std::string_view)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::csv;
using lib::csv_options;

}  // namespace sluice
