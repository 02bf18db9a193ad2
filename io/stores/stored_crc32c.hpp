// SPDX-License-Identifier: Apache-2.0
// Checksums as Google's store writes them: base64 of the four bytes, the highest first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// Of "crc32c=AAAAAA==,md5=…". Nothing: there is none.
std::optional<std::uint32_t> crc32c_of_hashes(std::string_view hashes);
/// Of "AAAAAA==".
std::optional<std::uint32_t> stored_crc32c(std::string_view text);
std::string stored_text(std::uint32_t crc32c);

}  // namespace sluice::lib::detail
