// SPDX-License-Identifier: Apache-2.0
// What a text holds, by its first bytes: JSON lines, a table with a delimiter, or lines of text.
// Thread: pure functions.
#pragma once

#include <string_view>

namespace sluice::lib::cli {

/// Returns "jsonl", "csv" or "lines" for a text whose name shows no format. JSON lines: the first line is an object.
/// CSV:
/// the first line has names, and all rows in `head` have as many fields as it. `is_all`: `head` is the whole file.
std::string_view kind_of_text(std::string_view head, bool is_all);

/// Returns the delimiter of a table in text: a comma if the header has one outside quotes; else the tab, semicolon or
/// bar
/// that occurs equally often in the header and in each of the next rows; 0 if no such character exists.
char delimiter_of(std::string_view head, bool is_all);

}  // namespace sluice::lib::cli
