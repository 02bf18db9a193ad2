// SPDX-License-Identifier: Apache-2.0
// Values in JSON texts that represent others: words for numbers, and objects for bytes.
#pragma once

#include <absl/strings/escaping.h>
#include <simdjson.h>

#include <string>
#include <string_view>

#include "format/json/large_numbers.hpp"

namespace sluice::lib::json {

using dom = simdjson::dom::element;

inline constexpr std::size_t kJsonShownBytes = 60;

/// Returns true for the text that stands for a number which JSON has no word for.
inline bool is_number_word(std::string_view text) { return text == "NaN" || text == "Infinity" || text == "-Infinity"; }

/// Stores the bytes of {"base64":"…"}. Returns false for other values.
inline bool bytes_of_base64(const dom& j, std::string& bytes) {
  simdjson::dom::object whole;
  std::string_view text;
  return j.get(whole) == simdjson::SUCCESS && whole.size() == 1 && whole["base64"].get(text) == simdjson::SUCCESS &&
         absl::Base64Unescape(std::string(text), &bytes);
}

inline std::string shown_json(const dom& j) {
  std::string out = with_numbers_shown(simdjson::minify(j));
  if (out.size() > kJsonShownBytes) out = out.substr(0, kJsonShownBytes) + "…";
  return out;
}

}  // namespace sluice::lib::json
