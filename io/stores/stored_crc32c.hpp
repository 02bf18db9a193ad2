// SPDX-License-Identifier: Apache-2.0
// Reads checksums in the form of Google's store: base64 of the four bytes, the highest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// Reads "crc32c=AAAAAA==,md5=…". Returns nothing if the text has no such checksum.
std::optional<std::uint32_t> crc32c_of_hashes(std::string_view hashes);
/// Reads "AAAAAA==".
std::optional<std::uint32_t> stored_crc32c(std::string_view text);
std::string stored_text(std::uint32_t crc32c);

}  // namespace sluice::lib::detail
