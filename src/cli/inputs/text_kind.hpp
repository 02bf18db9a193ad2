// SPDX-License-Identifier: Apache-2.0
// What a text holds, by its first bytes: JSON lines, a table with a delimiter, or lines of text.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::lib::cli {

/// Returns the format of a text whose name shows none. "jsonl": the first line is an object. "csv": the first line has
/// names, and all rows in `head` have as many fields as it. "lines": another text. `is_all`: `head` is the whole file.
std::string_view kind_of_text(std::string_view head, bool is_all);

/// Returns the delimiter of a table in text: a comma if the header has one outside quotes; else the tab, semicolon
/// or bar that occurs equally often in the header and in each of the next rows; 0 if no such character exists.
char delimiter_of(std::string_view head, bool is_all);

/// The number of bytes in which a file that is not text shows it.
inline constexpr std::size_t kTextBytes = 1024;

/// Returns true if the first KiB of `head` is UTF-8 and has no NUL bytes. `is_all`: the file has no further bytes, so
/// that the last character must be complete.
bool is_text_head(std::string_view head, bool is_all);
/// Returns true for control characters that no text has, in the first KiB.
bool has_controls(std::string_view head);
/// A page that a server may have sent in place of data; empty for other texts. FILE in `way_out` is replaced by the name.
struct markup_page {
  std::string_view what{}, way_out{};
};
markup_page markup_page_of(std::string_view head);
/// Returns ";" for a table that begins with Excel's line "sep=;"; empty for others.
std::string_view excel_delimiter(std::string_view head);
/// Returns the name of UTF-16 or UTF-32 for iconv; empty for a text in another encoding, and for other data.
std::string_view wide_encoding(std::string_view head);

}  // namespace sluice::lib::cli
