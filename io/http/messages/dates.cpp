// SPDX-License-Identifier: Apache-2.0
#include "io/http/messages/dates.hpp"

#include <absl/time/time.h>

#include <string>

namespace sluice::lib::detail {

std::optional<std::int64_t> parse_http_date(std::string_view text) {
  absl::Time when;
  std::string ignored;
  if (!absl::ParseTime("%a, %d %b %E4Y %H:%M:%S GMT", std::string(text), absl::UTCTimeZone(), &when, &ignored))
    return {};
  return absl::ToUnixNanos(when);
}

std::optional<std::int64_t> parse_iso_time(std::string_view text) {
  absl::Time when;
  std::string ignored;
  if (!absl::ParseTime(absl::RFC3339_full, std::string(text), &when, &ignored)) return {};
  return absl::ToUnixNanos(when);
}

std::int64_t iso_time_in_seconds(std::string_view text) {
  return parse_iso_time(text).value_or(0) / kSecondNs * kSecondNs;
}

}  // namespace sluice::lib::detail
