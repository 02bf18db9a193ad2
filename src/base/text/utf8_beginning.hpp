// SPDX-License-Identifier: Apache-2.0
// Thread: pure function.
#pragma once

#include <cstddef>
#include <string_view>

#include "sluice/base/utf8.hpp"

namespace sluice::lib::detail {

/// Returns true for UTF-8 that may end within a character, as the first bytes of a file do.
inline bool is_utf8_beginning(std::string_view text) noexcept {
  if (is_utf8(text)) return true;
  for (std::size_t cut = 1; cut != 4 && cut < text.size(); ++cut)
    if (is_utf8(text.substr(0, text.size() - cut))) return true;
  return false;
}

}  // namespace sluice::lib::detail
