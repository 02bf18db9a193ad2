// SPDX-License-Identifier: Apache-2.0
// Infers the type of the lines of JSON Lines files from their first lines when a plan is built, if the user has
// declared
// none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "engine/files/file_pieces.hpp"
#include "sluice/base/result.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The limit of a line.
inline constexpr std::size_t kJsonlLineBytesMax = std::size_t{16} << 20;
/// The number of lines of each file that are examined by default, as far as its first MiB has them.
inline constexpr std::int64_t kJsonlLinesLookedAt = 100;

/// Infers the common type of the first `lines` lines of each file (-1: all). Lines that are broken, or unlike those
/// before them in their file, are left out: the run reports or drops them.
/// Errors: the file's, and why reading stops if no line precedes that place; the error of the first line if all are
///         broken; several files: a line is unlike those of another file.
result<const element_type*> infer_jsonl_type(std::deque<file_pieces> files, std::int64_t lines = kJsonlLinesLookedAt);

/// Returns the type as text, as the schema of jsonl.
std::string jsonl_schema_text(const element_type& t);
/// Returns the lines that were examined, in words.
std::string jsonl_lines_looked_at(std::int64_t lines);

status jsonl_line_too_long();
/// Returns why a file that begins with this line has no JSON lines: it is one JSON text over several lines. Returns ok
/// for other lines.
status jsonl_text_of_several_lines(std::string_view first_line, const std::string& path);
bool is_blank_jsonl(std::string_view line);

}  // namespace sluice::lib
