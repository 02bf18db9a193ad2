// SPDX-License-Identifier: Apache-2.0
// Text in columns of a terminal: widths of characters, lines broken at blanks, and texts without control characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::lib::cli {

/// The width that is used if the descriptor is no terminal, or does not know its width.
inline constexpr std::size_t kUsualColumns = 80;
/// Returns the columns of the terminal `fd`; otherwise those of the environment variable COLUMNS, or kUsualColumns.
std::size_t terminal_columns(int fd);

/// Returns the columns that the text occupies. Combining characters occupy none; those of East Asia and emoji occupy two.
std::size_t display_width(std::string_view text);
/// Returns the longest beginning of the text that occupies at most `columns`, cut between characters.
std::string_view beginning_of(std::string_view text, std::size_t columns);
/// Returns the text if it fits into `columns`; otherwise its beginning and "…".
std::string shortened(std::string_view text, std::size_t columns);

/// Returns true for a character that a terminal would execute and not show: controls, DEL, and marks that change the
/// direction of a text. A line end and a tab are controls, too.
bool is_control(char32_t character);
/// Returns the text with each such character, and each byte that is not UTF-8, as an escape: \n, \u001b, \xff. `kept`:
/// controls that stay.
std::string without_controls(std::string_view text, std::string_view kept = {});
/// Returns the beginning of the text that does not end within a character.
std::string_view whole_characters_of(std::string_view text);

/// Breaks a text at its blanks into lines of at most `columns`. Lines after the first begin with `indent` blanks. A line
/// end in the text begins a line. A word that is longer than a line stays whole. `first_column`: the column in which the
/// text begins.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent, std::size_t first_column);

/// Breaks the lines for the terminal `fd`; returns the text as it is if `fd` is no terminal.
std::string fitting_lines(std::string text, int fd);

}  // namespace sluice::lib::cli
