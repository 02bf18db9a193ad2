// SPDX-License-Identifier: Apache-2.0
// Times as servers write them, as nanoseconds since 1970.
//
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::lib::detail {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

/// "Sun, 06 Nov 1994 08:49:37 GMT", as HTTP has it.
std::optional<std::int64_t> parse_http_date(std::string_view text);
/// "2026-11-24T10:00:00.5Z", as stores have it.
std::optional<std::int64_t> parse_iso_time(std::string_view text);
/// The same in whole seconds, which is all that an answer of HTTP about the same object says; 0: that is no time.
std::int64_t iso_time_in_seconds(std::string_view text);

}  // namespace sluice::lib::detail
