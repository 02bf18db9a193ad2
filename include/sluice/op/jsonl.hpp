// SPDX-License-Identifier: Apache-2.0
// jsonl: the lines of a file, each a JSON text, as structures.
//
//   struct comment { std::string text; std::optional<double> score; std::vector<std::string> tags; };
//   jsonl<comment>("a.jsonl")
//   list_files("a-*.jsonl.gz") | interleave(jsonl<comment>())
//
// In plan text the members are written as a text (element/type_text.hpp), jsonl("a.jsonl", "text: string, score: double?, at:
// {x: float, y: float}, tags: string[]"), and the structure is made at run time; without one, jsonl("a.jsonl"), they are inferred
// from the file's first 100 lines, when the plan is made.
//
// Shape:  any element of numbers, bools, texts, optionals, lists, arrays, structures, pairs and tuples, as print writes it: so
//         what `--output jsonl` of the program has written is read again. Members of the JSON that the structure does not have
//         are passed over where it was given, and are errors where it was inferred; an optional may be missing, or null.
//         Inferred: whole numbers are int64, or uint64 where those above are too large and
//         none is negative, all others double; what is null or missing in one of the 100 is an optional. A file
//         without a line has no elements, and they are called texts. A number of any size is JSON: a whole one of more than
//         64 bits is read as the nearest double where the member is one, and passed over where no member wants it.
// Order:  as in the file. Lines of nothing but spaces are no elements; a byte order mark before the first line is none of it.
// Errors: of the file, as in tfrecord. With the line (behind a resume, the record) and the place within it, as in
//         `tags[3]: expected string, got 5`: invalid_argument: no JSON in UTF-8, or not what the structure has, as a number
//         that the member's type does not hold.
//         resource_exhausted: a line of more than 16 MiB. unimplemented: a library without simdjson. Under
//         error_policy::skip the line is dropped. Where members are inferred, such a line among the first 100 refuses the plan, unless
//         the call itself says on_error=skip; so does a whole number that a double would round, of more than 64 bits or
//         beside one that is not whole.
// State:  byte offset and index of the next line.
// Streams: as tfrecord, where the members are given.
// See:    format/json/json_rows.hpp
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "sluice/plan/dataset.hpp"

namespace sluice::lib {

extern const op_info jsonl_op;

/// What a line is: written as text, or a type of the program, which prints as text. Without either what the file has, which is
/// opened when the plan is made.
struct json_type_arg {
  std::string value{};
  const element_type* row = nullptr;  ///< null: made of the text
  json_type_arg() = default;
  json_type_arg(std::string text) : value(std::move(text)) {}  // NOLINT: a type is written as a text
  /// Errors: throws invalid_argument for a type that no JSON can be.
  explicit json_type_arg(const element_type& t);
};

struct jsonl_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size read_bytes = 256 << 10;             ///< size of one read
  knob_up_to<1024> reads_in_flight = autotune;  ///< reads at the same time, if the bytes are not in memory already
  page_cache cache = page_cache::keep;          ///< of what the kernel has read
  size_limit inflated_bytes_max = {};           ///< of a compressed file: one byte more is an error; 0: any size
  ratio_limit inflate_ratio_max = {};  ///< the same, as a multiple of the compressed bytes (beyond the first MiB)
};
struct jsonl_arguments {
  file_path path = {};        ///< "-": standard input
  json_type_arg schema = {};  ///< the members and their types; "": those of the file
  jsonl_options options = {};
};

template <class T> dataset<T> jsonl(std::string_view path, jsonl_options o = {}) {
  return dataset<T>(jsonl_op, arguments::of(jsonl_arguments{std::string(path), json_type_arg(type_of<T>()), o}));
}
/// A reader for interleave and flat_map.
template <class T> file_reader<T> jsonl(jsonl_options o = {}) {
  return file_reader<T>(make_source(jsonl_op, arguments::of(jsonl_arguments{{}, json_type_arg(type_of<T>()), o})));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::jsonl;
using lib::jsonl_options;

}  // namespace sluice
