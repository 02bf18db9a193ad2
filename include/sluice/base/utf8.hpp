// SPDX-License-Identifier: Apache-2.0
// Checks whether bytes are valid UTF-8, and writes characters in it. Texts from files may contain any bytes, but JSON
// must be UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib {

/// The length in bytes of the well-formed character at the start of `s`; 0 if `s` does not start with one. By RFC 3629:
/// no surrogates, no overlong forms, nothing above U+10FFFF. REQUIRES: `s` is not empty.
std::size_t utf8_length(std::string_view s) noexcept;
bool is_utf8(std::string_view s) noexcept;
/// Appends the 1 to 4 bytes of a character. REQUIRES: code ≤ U+10FFFF.
void append_utf8(std::uint32_t code, std::string& to);

}  // namespace sluice::lib
