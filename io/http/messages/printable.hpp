// SPDX-License-Identifier: Apache-2.0
// Makes texts of servers safe for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// Replaces control characters, which could move a terminal's cursor or color the text, by blanks.
inline std::string printable(std::string_view text) {
  std::string shown(text);
  for (std::size_t i = 0; i != shown.size(); ++i) {
    const auto byte = static_cast<unsigned char>(shown[i]);
    const bool is_c1 = byte >= 0x80 && byte < 0xa0 && i != 0 && shown[i - 1] == '\xc2';  // in UTF-8
    if (is_c1) shown[i - 1] = ' ';
    if (is_c1 || byte < ' ' || byte == 0x7f) shown[i] = ' ';
  }
  return shown;
}

}  // namespace sluice::lib::detail
