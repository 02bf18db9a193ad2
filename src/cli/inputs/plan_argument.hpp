// SPDX-License-Identifier: Apache-2.0
// A plan as it was typed.
#pragma once

#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {

/// Plan text; where it begins with "{", JSON (plan/json.hpp); where it begins with "@", the name of a file with one of both.
/// Errors: misuse: the words of the plan_error, the line it is on (of a long one, what is around) and a caret
/// under its column; for what looks like a path instead, a plan that reads it.
node_ptr plan_of(const std::string& text);

/// The plan in a file, as text or JSON, or on standard input where `path` is "-". Newlines and comments (# …) are white space.
/// Errors: misuse, FILE:LINE:COLUMN: the words of the plan_error, with the line and a caret; `error`: it cannot be read.
node_ptr plan_in_file(const std::string& path);

/// Returns true if the text names data rather than a plan: a file, a FIFO, a URL, or "-" for standard input.
bool names_data(const std::string& plan_or_file);
/// Returns a plan that reads the named data, or the plan itself if the text is a plan.
node_ptr plan_or_reader(const std::string& plan_or_file);

/// The plan that reads this file: CSV with a header and JSON lines by their names, TFRecords, Arrow, npy, the files of a tar
/// where it begins as one (compressed or not) or of a zip, else lines. Of a FIFO only the name tells.
/// Throws misuse: a zip that is compressed, or on standard input: it is read from its end.
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
/// By its name, or by what it begins with.
bool is_tar(const std::string& file);
/// A zip archive: by its name, or what it begins with.
bool is_zip(const std::string& file);
bool is_file(const std::string& path);
/// A local file of no bytes.
bool is_empty_file(const std::string& path);
/// A text of plans: "…", escaped.
std::string in_quotes(const std::string& text);

}  // namespace sluice::lib::cli
