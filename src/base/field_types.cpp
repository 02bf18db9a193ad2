// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/field_types.hpp"

#include <charconv>

namespace sluice::lib {

namespace {

bool read_whole(std::string_view text, std::int64_t& value) {
  const char* end = text.data() + text.size();
  auto r = std::from_chars(text.data(), end, value);
  return r.ec == std::errc() && r.ptr == end;
}

struct unit {
  std::string_view name;
  std::int64_t bytes;
};
// The units that printing may choose are ordered from the largest down (the binary ones before the others).
constexpr unit kUnits[] = {{"TiB", std::int64_t{1} << 40},
                           {"GiB", 1 << 30},
                           {"MiB", 1 << 20},
                           {"KiB", 1 << 10},
                           {"TB", 1'000'000'000'000},
                           {"GB", 1'000'000'000},
                           {"MB", 1'000'000},
                           {"kB", 1'000},
                           {"KB", 1'000},
                           {"T", std::int64_t{1} << 40},
                           {"G", 1 << 30},
                           {"M", 1 << 20},
                           {"K", 1 << 10},
                           {"k", 1 << 10},
                           {"B", 1}};

}  // namespace

bool read_byte_size(std::string_view text, std::int64_t& bytes) {
  double number = 0;
  const char* end = text.data() + text.size();
  auto r = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (r.ec != std::errc()) return false;
  if (r.ptr == end) return read_whole(text, bytes);  // exact, also above 2⁵³
  std::string_view name(r.ptr, static_cast<std::size_t>(end - r.ptr));
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (auto& u : kUnits) {
    if (u.name != name) continue;
    double size = number * static_cast<double>(u.bytes);
    if (size < 0 || size > 9e18) return false;
    bytes = static_cast<std::int64_t>(size);
    return true;
  }
  return false;
}

std::string print_byte_size(std::int64_t bytes) {
  for (auto& u : kUnits)
    if (u.name.ends_with("iB") && bytes >= u.bytes && bytes % u.bytes == 0)
      return std::to_string(bytes / u.bytes) + std::string(u.name);
  return std::to_string(bytes);
}

}  // namespace sluice::lib
