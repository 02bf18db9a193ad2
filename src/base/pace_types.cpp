// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/pace_types.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::lib {

namespace {

struct time_unit {
  std::string_view name;
  std::int64_t nanoseconds;
};
// Largest first. If several units have one size, the first is printed.
constexpr time_unit kTimeUnits[] = {{"h", 3'600'000'000'000},
                                    {"min", 60'000'000'000},
                                    {"m", 60'000'000'000},
                                    {"s", 1'000'000'000},
                                    {"ms", 1'000'000},
                                    {"us", 1'000},
                                    {"ns", 1}};
constexpr double kNanosecondsMost = 1e6 * 3600e9;  // a million hours fit in nanoseconds, in 64 bits

}  // namespace

bool read_time_span(std::string_view text, std::int64_t& nanoseconds) {
  const char* end = text.data() + text.size();
  double number = 0;
  auto read = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  bool is_number = read.ec == std::errc() && text[0] >= '0' && text[0] <= '9';  // "inf" would be a number, too
  if (!is_number) return false;
  std::string_view name(read.ptr, static_cast<std::size_t>(end - read.ptr));
  name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
  for (const time_unit& u : kTimeUnits) {
    if (u.name != name) continue;
    double total = number * static_cast<double>(u.nanoseconds);
    if (total > kNanosecondsMost) return false;
    nanoseconds = static_cast<std::int64_t>(total + 0.5);  // 0.1ms must not become 99999ns
    return true;
  }
  return false;
}

std::string print_time_span(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  const time_unit* fits = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits),
                                       [&](const time_unit& u) { return nanoseconds % u.nanoseconds == 0; });
  return std::to_string(nanoseconds / fits->nanoseconds) + std::string(fits->name);
}

}  // namespace sluice::lib
