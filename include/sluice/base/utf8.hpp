// SPDX-License-Identifier: Apache-2.0
// Is it UTF-8? Texts come from files, and JSON must not repeat their mistakes.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::lib {

/// Bytes of the well-formed sequence that `s` (not empty) starts with; 0 where there is none. RFC 3629: no surrogates,
/// no overlong forms, nothing above U+10FFFF.
std::size_t utf8_length(std::string_view s) noexcept;
bool is_utf8(std::string_view s) noexcept;

}  // namespace sluice::lib
