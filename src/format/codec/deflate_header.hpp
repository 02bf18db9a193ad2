// SPDX-License-Identifier: Apache-2.0
// Examines the first bytes of gzip and zlib.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::lib::detail {

inline constexpr std::string_view kGzipMagic = "\x1f\x8b";
inline constexpr std::size_t kGzipFlagsAt = 3;
inline constexpr unsigned char kGzipReservedFlags = 0xe0;

/// Returns true if a gzip header has reserved flags. The fields that they would add cannot be skipped (RFC 1952).
inline bool has_reserved_gzip_flags(std::string_view in) {
  return in.size() > kGzipFlagsAt && (static_cast<unsigned char>(in[kGzipFlagsAt]) & kGzipReservedFlags) != 0;
}

inline bool is_zlib_header(std::string_view in) {
  if (in.size() < 2) return false;
  auto a = static_cast<unsigned char>(in[0]), b = static_cast<unsigned char>(in[1]);
  return (a & 0x0f) == 8 && (a >> 4) <= 7 && (a * 256 + b) % 31 == 0;
}

}  // namespace sluice::lib::detail
