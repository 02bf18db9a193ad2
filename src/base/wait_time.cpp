// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/wait_time.hpp"

#include <charconv>

namespace sluice::lib {

namespace {

struct unit_of_time {
  std::string_view name;
  std::int64_t ns;
};
/// The longest first.
constexpr unit_of_time kTimes[] = {
    {"min", 60'000'000'000}, {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1000}, {"ns", 1}};

}  // namespace

bool read_wait_time(std::string_view text, std::int64_t& ns) {
  double number = 0;
  const char* end = text.data() + text.size();
  auto r = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (r.ec != std::errc()) return false;
  std::string_view name(r.ptr, static_cast<std::size_t>(end - r.ptr));
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (auto& u : kTimes) {
    if (u.name != name) continue;
    const double span = number * static_cast<double>(u.ns);
    if (span < -9e18 || span > 9e18) return false;
    ns = static_cast<std::int64_t>(span);
    return true;
  }
  return false;
}

std::string print_wait_time(std::int64_t ns) {
  for (auto& u : kTimes)
    if (ns % u.ns == 0 && (ns != 0 || u.ns == 1)) return std::to_string(ns / u.ns) + std::string(u.name);
  return std::to_string(ns) + "ns";
}

}  // namespace sluice::lib
