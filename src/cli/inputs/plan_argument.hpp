// SPDX-License-Identifier: Apache-2.0
// A plan as typed on the command line.
#pragma once

#include <string>

#include "cli/inputs/format_options.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/status.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

/// Reads plan text. A text that begins with "{" is JSON (plan/json.hpp). A text that begins with "@" is the name of a
/// file that contains either. Errors: misuse: the message of the plan_error, its line (a part of a long one) and a
/// caret under its column; for a text that looks like a path, a plan that reads that path.
node_ptr plan_of(const std::string& text);

/// Reads the plan text that reads a file, or the files of a pattern. Errors: misuse: about --schema if it was typed, with a
/// schema or a command that works; otherwise as plan_of().
node_ptr plan_of_file(const std::string& file, const std::string& text, const format_arguments& format);

/// Reads the plan in a file, as text or JSON, or on standard input if `path` is "-". Newlines and comments (# …) are
/// white space. Errors: misuse, FILE:LINE:COLUMN: the message of the plan_error, with the line and a caret; `error`: it
/// cannot be read.
node_ptr plan_in_file(const std::string& path);

/// Returns true for the error of a plan that cannot be split.
bool names_stage(const status& why);
/// Throws an error whose message names a stage after "the plan cannot be split: ", with the place of the stage in the text
/// of the plan: FILE:LINE:COLUMN, or the column if `file` is empty and the text was typed, and the line with a caret. The
/// place is left out if the text does not show it: JSON, standard input, other names of operators.
[[noreturn]] void throw_at_stage(const status& why, const node& plan, const std::string& typed,
                                 const std::string& file);

/// Returns true if the text names data rather than a plan: a file, a FIFO, a URL, or "-" for standard input.
bool names_data(const std::string& plan_or_file);
/// Throws misuse if the path is a folder. The message suggests the verb with a pattern of its files, and then `after`.
void refuse_folder(const std::string& path, std::string_view verb, std::string_view after = {});
/// Returns "its files are read by csv(\"data/*.csv\", header=true)" for a folder.
std::string way_to_files_in(const std::string& folder);
/// Throws not_found if the text is meant as a path, and neither a file nor a plan; misuse if it is a folder. `verb`: the
/// one that was typed, for the message.
void check_not_missing(const std::string& plan_or_file, std::string_view verb = {});
/// Returns a plan that reads the named data, or the files that a pattern matches, one after another; or the plan itself
/// if the text is a plan. `format`: as in plan_reading(). Throws misuse: it has an option although the text is a plan.
node_ptr plan_or_reader(const std::string& plan_or_file, const format_arguments& format = {});
/// Throws misuse if an option about files was typed.
void refuse_for_plan(const std::string& plan, const format_arguments& format);

/// Returns the text of the plan that reads this file. `format`: what is not given is detected (file_kind.hpp). Throws
/// misuse: no reader reads the file, or its format does not have an option.
std::string plan_reading(const std::string& file, const format_arguments& format = {});
/// The same for the files that a pattern matches; the first file that is not empty decides their format.
std::string plan_reading_matches(const std::string& pattern, const format_arguments& format);
/// Returns the first bytes of standard input or of an inherited pipe, which are not consumed; empty for other paths.
/// `is_all`: set to true if no bytes follow.
std::string beginning_of_stream(const std::string& path, bool& is_all);
/// Returns a path unchanged, and the part of a URL before its query.
std::string_view without_query(std::string_view path);
/// Returns the part of the name that shows the format: without a URL's query, and without a suffix of compression.
std::string_view name_of_data(std::string_view path);
/// The bytes of a file by which its format is detected. They own what a file_sample (file_kind.hpp) refers to.
struct sampled_file {
  std::string path{}, head{}, tail{};
  bool is_all = false, is_packed = false;
};
/// Returns true for a whole text without characters, apart from line ends and a byte order mark.
bool is_blank(const sampled_file& s);
/// Reads the first bytes, decompressed, and the last ones. The bytes of standard input and of an inherited pipe are not
/// consumed. They stay empty for a named FIFO, and for a file that cannot be read: reading it reports the reason.
sampled_file sample_of(const std::string& path, compression c = compression::automatic);
/// Returns true if the file is compressed, by its name or its first bytes.
bool is_compressed(const std::string& file);
bool is_file(const std::string& path);
/// Returns true for a local or remote file, whose bytes can be read again; false for standard input and FIFOs.
bool names_file(const std::string& path);
/// Returns true for a local file of size 0.
bool is_empty_file(const std::string& path);

}  // namespace sluice::lib::cli
