// SPDX-License-Identifier: Apache-2.0
// What signatures are made of, by OpenSSL.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

/// 16 bytes. Empty where OpenSSL may not compute it (FIPS).
std::string md5(std::string_view bytes);
/// 32 bytes.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);
/// In lower case.
std::string hexadecimal(std::string_view bytes);
std::string base64(std::string_view bytes);
/// With - and _, and without = at the end.
std::string base64_url(std::string_view bytes);
/// Of text without blanks. Errors: invalid_argument.
result<std::string> from_base64(std::string_view text);
/// RSASSA-PKCS1-v1_5 with SHA-256. `key`: PEM. Errors: invalid_argument: no such key; what it holds is not told.
result<std::string> rs256(const std::string& key, std::string_view text);

}  // namespace sluice::lib::detail
