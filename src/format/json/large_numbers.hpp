// SPDX-License-Identifier: Apache-2.0
// Numbers in JSON that neither int64, uint64 nor double represents: whole ones of more than 64 bits, and those beyond
// all doubles. simdjson refuses any text that has one. Such a text is parsed again with an object in place of each
// number: {"sluice: large number":"18446744073709551616"}.
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

/// Returns true for a number in JSON's spelling of this kind.
bool is_marked_number(std::string_view token);
/// Returns the nearest double; infinite beyond all doubles.
double double_of_large_number(std::string_view token);
/// Returns the text with an object in place of each such number; "" if it has none.
std::string with_numbers_marked(std::string_view json, marked_numbers which);
/// Replaces the objects by their numbers again, for messages. The text must not contain spaces.
std::string with_numbers_shown(std::string json);

}  // namespace sluice::lib
