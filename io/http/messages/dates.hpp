// SPDX-License-Identifier: Apache-2.0
// Parses times in the forms that servers use, as nanoseconds since 1970.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::lib::detail {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

/// Parses HTTP's form, "Sun, 06 Nov 1994 08:49:37 GMT".
std::optional<std::int64_t> parse_http_date(std::string_view text);
/// Parses the form of object stores, "2026-11-24T10:00:00.5Z".
std::optional<std::int64_t> parse_iso_time(std::string_view text);
/// Parses the same form and rounds down to seconds, which is the precision of HTTP's form. Returns 0 if the text is no
/// time.
std::int64_t iso_time_in_seconds(std::string_view text);

}  // namespace sluice::lib::detail
