// SPDX-License-Identifier: Apache-2.0
// CRC-32C for loops that must inline the short case: the instruction below 256 bytes, ISA-L's folding for longer spans.
//
// On x86-64 the caller is a function marked SLUICE_TARGET_CRC. The code assumes SSE 4.2 there: every x86-64 since 2008
// has it, and a second copy of each loop for older ones would go untested. On other machines the library does
// everything.
#pragma once

#include <isa-l/crc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define SLUICE_TARGET_CRC __attribute__((target("sse4.2")))
#else
#define SLUICE_TARGET_CRC
#endif

namespace sluice::lib::detail {

/// Works on the inverted CRC, as the instruction does. ISA-L takes an int length, so longer spans are split.
inline std::uint32_t library_crc(const char* p, std::size_t n, std::uint32_t inverted) noexcept {
  while (n > 0) {
    std::size_t piece = std::min<std::size_t>(n, std::size_t{1} << 30);
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(p));  // ISA-L only reads
    inverted = crc32_iscsi(bytes, static_cast<int>(piece), inverted);
    p += piece;
    n -= piece;
  }
  return inverted;
}

#if defined(__x86_64__)
/// For fewer bytes the library's folding does not repay its set-up (12 compared with 26 GB/s at 64 B).
inline constexpr std::size_t kLibraryFromBytes = 256;

__attribute__((always_inline)) SLUICE_TARGET_CRC inline std::uint32_t inverted_crc(const char* p, std::size_t n,
                                                                                   std::uint32_t inverted) noexcept {
  if (n >= kLibraryFromBytes) return library_crc(p, n, inverted);
  std::uint64_t crc = inverted, word;
  for (; n >= 8; p += 8, n -= 8) {
    std::memcpy(&word, p, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto c = static_cast<std::uint32_t>(crc);
  if (n & 4) {
    std::uint32_t half;
    std::memcpy(&half, p, 4);
    c = _mm_crc32_u32(c, half);
    p += 4;
  }
  if (n & 2) {
    std::uint16_t two;
    std::memcpy(&two, p, 2);
    c = _mm_crc32_u16(c, two);
    p += 2;
  }
  if (n & 1) c = _mm_crc32_u8(c, static_cast<unsigned char>(*p));
  return c;
}
#else
inline std::uint32_t inverted_crc(const char* p, std::size_t n, std::uint32_t inverted) noexcept {
  return library_crc(p, n, inverted);
}
#endif

}  // namespace sluice::lib::detail
