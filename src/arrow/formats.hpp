// SPDX-License-Identifier: Apache-2.0
// Shared by export and import: Arrow's format strings for sluice types, and the names of columns in errors.
#pragma once

#include <string>
#include <string_view>

#include "sluice/arrow/columns.hpp"

namespace sluice::lib::arrow {

/// The name of the only column if the rows are not structures.
inline constexpr const char* kValueName = "value";

bool is_bool(const element_type& t);
/// Returns the format string of a scalar; null if Arrow has none.
const char* number_format(const element_type& t);
/// The same with dates, times and durations, whose formats are not literals; empty if Arrow has none.
std::string scalar_format(const element_type& t);
/// Returns the type of dates, times, timestamps and durations; null for other formats.
const element_type* temporal_of_format(std::string_view format);
/// Returns true if numbers of this format become `t` without loss: the same width and sign, float16 as float, and dates
/// and times as integers, whose unit is then the caller's business.
bool fits_number(const element_type& t, std::string_view format);
/// Returns the name of an Arrow type, for messages: "decimal128(10, 2)".
std::string format_words(std::string_view format);
bool becomes_utf8(const element_type& text, const arrow_options& o);

/// The path of a column, as a chain through the frames of the recursion: it becomes a text only for an error.
struct place {
  const place* above = nullptr;
  std::string_view name{};  ///< of a member; "[]" for the elements of a list or an array
  /// The number of bytes that shared values (dictionaries, runs, views) may still take when they are copied. Only the
  /// outermost place has it. Null: no limit.
  std::size_t* room = nullptr;

  /// Returns `room` of the outermost place.
  std::size_t* all_room() const { return above ? above->all_room() : room; }
  std::string to_string() const;
};

/// Returns "column \"path[].name\": " + `what`.
std::string at(const place& p, std::string_view what);

}  // namespace sluice::lib::arrow
