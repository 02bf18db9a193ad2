// SPDX-License-Identifier: Apache-2.0
// Functions for signatures, from OpenSSL.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

/// Returns 16 bytes; "" if OpenSSL refuses to compute it (FIPS).
std::string md5(std::string_view bytes);
/// Returns 32 bytes.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);
/// Returns the digits in lower case.
std::string hexadecimal(std::string_view bytes);
std::string base64(std::string_view bytes);
/// Uses - and _, without = at the end.
std::string base64_url(std::string_view bytes);
/// The text has no blanks. Errors: invalid_argument.
result<std::string> from_base64(std::string_view text);
/// Signs with RSASSA-PKCS1-v1_5 and SHA-256. `key`: PEM. Errors: invalid_argument: the key is invalid; the message
/// omits its contents.
result<std::string> rs256(const std::string& key, std::string_view text);

}  // namespace sluice::lib::detail
