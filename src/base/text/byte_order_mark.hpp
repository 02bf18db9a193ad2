// SPDX-License-Identifier: Apache-2.0
// The mark that some programs write before a text in UTF-8. It is not part of the text.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::lib::detail {

/// Returns the size of the mark at the beginning of a text; 0 if it has none.
inline std::size_t byte_order_mark_bytes(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

/// Returns true for a text in UTF-16 or UTF-32 with a mark: no UTF-8 begins so.
inline bool has_utf16_mark(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

}  // namespace sluice::lib::detail
