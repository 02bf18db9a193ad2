// SPDX-License-Identifier: Apache-2.0
// A plan as typed on the command line.
#pragma once

#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

/// Reads plan text. A text that begins with "{" is JSON (plan/json.hpp). A text that begins with "@" is the name of a
/// file that contains either. Errors: misuse: the message of the plan_error, its line (a part of a long one) and a
/// caret under its column; for a text that looks like a path, a plan that reads that path.
node_ptr plan_of(const std::string& text);

/// Reads the plan in a file, as text or JSON, or on standard input if `path` is "-". Newlines and comments (# …) are
/// white space. Errors: misuse, FILE:LINE:COLUMN: the message of the plan_error, with the line and a caret; `error`: it
/// cannot be read.
node_ptr plan_in_file(const std::string& path);

/// Returns true if the text names data rather than a plan: a file, a FIFO, a URL, or "-" for standard input.
bool names_data(const std::string& plan_or_file);
/// Returns a plan that reads the named data, or the plan itself if the text is a plan.
node_ptr plan_or_reader(const std::string& plan_or_file);

/// Returns the plan that reads this file. CSV with a header and JSON lines are read by their names; then TFRecords,
/// Arrow, npy, the files of a tar (compressed or not, if its first bytes show one) or of a zip; other files as lines.
/// For a FIFO only the name decides. Throws misuse: a zip that is compressed or on standard input, since a zip is read
/// from its end.
std::string plan_reading(const std::string& file);
/// Returns a path unchanged, and the part of a URL before its query.
std::string_view without_query(std::string_view path);
/// Returns the part of the name that shows the format: without a URL's query, and without a suffix of compression.
std::string_view name_of_data(std::string_view path);
/// Returns true if the file, decompressed if necessary, begins with text in UTF-8. For standard input and a FIFO:
/// returns true unless another format is known.
bool begins_as_text(const std::string& file);
/// Returns true if the file is compressed, by its name or its first bytes.
bool is_compressed(const std::string& file);
/// Returns true for a tar archive, by its name or its first bytes.
bool is_tar(const std::string& file);
/// Returns true for a zip archive, by its name or its first bytes.
bool is_zip(const std::string& file);
bool is_file(const std::string& path);
/// Returns true for a local file of size 0.
bool is_empty_file(const std::string& path);
/// Returns a text as plans quote it: "…", escaped.
std::string in_quotes(const std::string& text);

}  // namespace sluice::lib::cli
