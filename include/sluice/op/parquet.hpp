// SPDX-License-Identifier: Apache-2.0
// parquet: the rows of a Parquet file as structures.
//
//   struct passenger { std::string name; std::optional<double> age; };
//   parquet<passenger>("a.parquet")                                  // members are found by the names of columns
//   parquet<passenger>("a-*.parquet") | batch(1024)                  // the matching files, one after another
//   list_files("a-*.parquet") | interleave(parquet<passenger>())
//
// In plan text the columns are those of the file, parquet("a.parquet"), or the named ones, parquet("a.parquet",
// columns=["name", "age"]); the structure is built at run time. Only the column chunks of these columns are read.
//
// Shape:  a structure; docs/formats.md lists the C++ type of each type of Parquet. Lists, structures and fixed lists are
//         read at any depth; maps as lists of {key, value}, dictionaries as their values, dates and times as numbers
//         whose type has their unit, decimals as texts with all of their digits. A column that may be null is an
//         optional. Members that the file lacks must be optionals. A file whose only column is called "value" yields
//         these values. If batch directly follows, the rows are written into its columns without a structure in between.
//         The number of rows is known from the footer, if the columns are those of the file.
// Order:  as in the file.
// Errors: failed_precondition: the program did not call register_parquet() (sluice/io/arrow_parquet.hpp; the program
//         sluice does); the file has changed since the plan was built, if its columns were read then. Those of the file,
//         as in tfrecord. data_loss, with row and column: the file violates the format or is cut short. unimplemented:
//         it is encrypted. invalid_argument, with the column: its type is not the member's, it is missing, or it has a
//         null although the member is not an optional. resource_exhausted: the column chunks of a row group, or what
//         decoding them needs, exceed the memory budget. Under error_policy::skip the rest of a damaged row group is
//         dropped, or the whole file if it cannot be opened. Columns that are not read are not checked.
// State:  number of the row group, and of the row in it. A resume reads the footer and that group again. A skip of whole
//         groups reads nothing of them.
// Memory: the compressed column chunks of one row group and what decoding them needs are charged to the budget; those of
//         later groups, one for each worker, only if ample memory is left.
// Thread: rows are decoded on threads for blocking calls.
// Streams: not read: the footer is at the end of a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sluice/engine/arrow_schema.hpp"
#include "sluice/engine/column_choice.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info parquet_op;

struct parquet_options {
  arrow_schema_arg schema = {};                 ///< the columns and their types; "": all columns of the file
  byte_size read_bytes = 4 << 20;               ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads of the column chunks of a row group
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
};
struct parquet_arguments {
  file_path path = {};
  parquet_options options = {};
  column_choice built = {};
};

/// Reads the rows of one file, or of those that a pattern matches.
template <class T> dataset<T> parquet(std::string_view path, parquet_options o = {}) {
  o.schema = arrow_schema_arg(type_of<T>(), "parquet");
  return dataset<T>(parquet_op, arguments::of(parquet_arguments{std::string(path), std::move(o)}));
}
/// Returns a reader for interleave and flat_map.
template <class T> file_reader<T> parquet(parquet_options o = {}) {
  o.schema = arrow_schema_arg(type_of<T>(), "parquet");
  return file_reader<T>(make_source(parquet_op, arguments::of(parquet_arguments{{}, std::move(o)})));
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, parquet, parquet_options,
                               "parquet<T>(\"a.parquet\", {.read_bytes = 1 << 20})", std::string_view)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::parquet;
using lib::parquet_options;

}  // namespace sluice
