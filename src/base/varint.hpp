// SPDX-License-Identifier: Apache-2.0
// Unsigned numbers in groups of seven bits, the lowest first, as protocol buffers write them.
// Thread: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// The number of bytes that append_varint() writes: 1 to 10.
inline std::size_t varint_size(std::uint64_t n) {
  std::size_t bytes = 1;
  for (; n >= 0x80; n >>= 7) ++bytes;
  return bytes;
}
inline void append_varint(std::uint64_t n, std::string& out) {
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  out += static_cast<char>(n);
}
/// Takes a number from the front. Returns false if it is cut short or too long.
inline bool take_varint(std::string_view& from, std::uint64_t& n) {
  n = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    n |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace sluice::lib::detail
