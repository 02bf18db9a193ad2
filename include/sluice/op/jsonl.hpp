// SPDX-License-Identifier: Apache-2.0
// jsonl: the lines of a JSON Lines file as structures.
//
//   struct comment { std::string text; std::optional<double> score; std::vector<std::string> tags; };
//   jsonl<comment>("a.jsonl")
//   jsonl<comment>("a-*.jsonl.gz")                             // the matching files, one after another
//   list_files("a-*.jsonl.gz") | interleave(jsonl<comment>())
//
// In plan text the members are written as a text (element/type_text.hpp), jsonl("a.jsonl", "text: string, score:
// double?, at: {x: float, y: float}, tags: string[]"), and the structure is built at run time. Without that text,
// jsonl("a.jsonl"), the members are inferred from the file's first 100 lines (`infer`) when the plan is built, and
// those
// of several files are merged by name.
//
// Shape:  an element of numbers, bools, texts, optionals, lists, arrays, structures, pairs and tuples, in the form that
//         print writes; files that the program's `--output jsonl` wrote can be read again. If the structure was given,
//         JSON members that it does not have are skipped; if it was inferred, or with `strict`, they are errors. An
//         optional may be
//         missing or null. Inferred whole numbers are int64, or uint64 if some are too large for int64 and none is
//         negative; all other inferred numbers are double. A member that is null or missing in one of the 100 lines is
//         inferred as an optional. A file without lines has no elements; its element type is a text. JSON allows
//         numbers of any size: a whole number of more than 64 bits is read as the nearest double if the member is a
//         double, and is skipped if no member wants it. A number is rounded once, to the nearest value of its member's
//         type; a whole number is exact, also if it is written as 1e18 or 12.0.
// Order:  as in the file. Lines that contain only spaces are not elements. A byte order mark before the first line is
//         ignored.
// Errors: those of the file, as in tfrecord. The others name the line (after a resume, the record) and the place within
//         it, for example `tags[3]: expected string, got 5`. invalid_argument: the line is not JSON in UTF-8, or does
//         not fit the structure, for example a number that the member's type cannot represent. resource_exhausted: a
//         line has more than 16 MiB. unimplemented: the library was built without simdjson. Under error_policy::skip
//         the line is dropped. Inference leaves out lines that are bad, or unlike those before them, unless all are. A
//         plan with inferred members is rejected if a double would round one of the numbers, and if two files have
//         unlike
//         values in a member.
// State:  byte offset and index of the next line, with any parallelism.
// Thread: with parallelism one task cuts the file into lines, and others build elements of blocks of them, ahead of the
//         consumer. The lines count toward the run's memory.
// Streams: as tfrecord, if the members are given.
// See:    format/json/json_rows.hpp
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sluice/base/index_types.hpp"
#include "sluice/engine/column_choice.hpp"
#include "sluice/plan/braces.hpp"
#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info jsonl_op;

/// The type of a line: written as text, or a type of the program, which prints as text. If neither is given, the type
/// is inferred from the file, which is opened when the plan is built.
struct json_type_arg {
  std::string value{};
  const element_type* row = nullptr;  ///< null: built from the text
  json_type_arg() = default;
  json_type_arg(std::string text) : value(std::move(text)) {}  // NOLINT: a type is written as a text
  /// Errors: throws invalid_argument for a type that JSON cannot represent.
  explicit json_type_arg(const element_type& t);
};

struct jsonl_options {
  bool strict = false;       ///< true: a member that a given schema does not have is an error
  std::int64_t infer = 100;  ///< the number of lines from which a missing schema is inferred; -1: all
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< concurrent reads, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< whether the bytes read stay in the kernel's page cache
  size_limit inflated_bytes_max = {};           ///< limit of a compressed file's inflated size; 0: no limit
  ratio_limit inflate_ratio_max = {};           ///< limit as a multiple of the compressed bytes (beyond the first MiB)
  /// Blocks of lines parsed at once; more than 1 works ahead. Under error_policy::skip the stage parses one at a time.
  knob_up_to<65'536> parallelism = {};
  /// The use of the file's index, by which a skip finds its element without reading those before (`sluice index FILE`).
  file_index index = file_index::automatic;
};
struct jsonl_arguments {
  file_path path = {};        ///< "-": standard input
  json_type_arg schema = {};  ///< the members and their types; "": inferred from the file
  jsonl_options options = {};
  column_choice built = {};
};

template <class T> dataset<T> jsonl(std::string_view path, jsonl_options o = {}) {
  return dataset<T>(jsonl_op, arguments::of(jsonl_arguments{std::string(path), json_type_arg(type_of<T>()), o}));
}
/// Returns a reader for interleave and flat_map.
template <class T> file_reader<T> jsonl(jsonl_options o = {}) {
  return file_reader<T>(make_source(jsonl_op, arguments::of(jsonl_arguments{{}, json_type_arg(type_of<T>()), o})));
}
SLUICE_TYPED_OPTIONS_IN_BRACES(dataset<T>, jsonl, jsonl_options, "jsonl<T>(\"a.jsonl\", {.read_bytes = 1 << 20})",
                               std::string_view)

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::jsonl;
using lib::jsonl_options;

}  // namespace sluice
