// SPDX-License-Identifier: Apache-2.0
// Numbers of JSON that no int64, uint64 or double holds as it is written: whole ones of more than 64 bits, and those beyond all
// doubles. simdjson refuses a text that has one, wherever it stands; so that text alone is parsed once more, with an object in
// place of each: {"sluice: large number":"18446744073709551616"}. A double does not decide which float or integer is meant by a
// number next to the middle of two, so a text that has one is parsed in the same way, with all its real numbers marked.
// Thread: none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib {

inline constexpr std::string_view kLargeNumberKey = "sluice: large number";

enum class marked_numbers : std::uint8_t {
  large,     ///< those that simdjson does not read
  all_real,  ///< also all that have a point or an exponent, of which simdjson makes doubles
};

/// Returns true for a number in JSON's spelling that is one of marked_numbers::all_real.
bool is_marked_number(std::string_view token);
/// The number as the double nearest to it; infinite beyond all doubles.
double double_of_large_number(std::string_view token);
/// The text with an object in place of each; empty where it has none.
std::string with_numbers_marked(std::string_view json, marked_numbers which);
/// Undoes it, for people: in a text without spaces.
std::string with_numbers_shown(std::string json);

}  // namespace sluice::lib
