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

}  // namespace sluice::lib::detail
