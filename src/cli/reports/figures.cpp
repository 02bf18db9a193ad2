// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/figures.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

namespace sluice::lib::cli {
namespace {

/// Prints three digits and the largest unit for which the integer part is not zero.
std::string scaled(double n, double step, const char* const* units, std::size_t count) {
  std::size_t k = 0;
  while (n >= step * 0.9995 && k + 1 < count) n /= step, ++k;
  int decimals = k == 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2;
  return absl::StrFormat("%.*f %s", decimals, n, units[k]);
}

}  // namespace

std::string grouped(std::uint64_t n) {
  std::string digits = absl::StrCat(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string short_number(double n) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G"};
  std::string text = scaled(n, 1000, kUnits, 4);
  if (text.back() == ' ') text.pop_back();
  return text;
}

std::string short_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  return scaled(bytes, 1000, kUnits, 5);
}

std::string memory_size(std::size_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return scaled(static_cast<double>(bytes), 1024, kUnits, 5);
}

std::string seconds_text(double seconds) {
  if (seconds < 60) return absl::StrFormat("%.2f s", seconds);
  auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  return absl::StrFormat("%d min %d s", whole / 60, whole % 60);
}

std::string short_seconds(double seconds) {
  static constexpr const char* kUnits[] = {"ns", "µs", "ms", "s"};
  return scaled(seconds * 1e9, 1000, kUnits, 4);
}

std::string numbered(const std::string& name, std::uint64_t number) {
  return number ? absl::StrCat(name, " #", number) : name;
}

std::string counted(std::uint64_t n, const char* noun) {
  return absl::StrCat(grouped(n), " ", noun, n == 1 ? "" : "s");
}

}  // namespace sluice::lib::cli
