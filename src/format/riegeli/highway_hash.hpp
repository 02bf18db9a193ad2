// SPDX-License-Identifier: Apache-2.0
// HighwayHash, 64 bits: the checksum of Riegeli files.
//
//   std::uint64_t h = highway_hash(kRiegeliKey, bytes);
//
// Thread: pure functions.
// See:    Alakuijala, Cox, Wassenberg: "Fast keyed hash/pseudo-random function using SIMD multiply and permute".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sluice::lib {

using highway_key = std::array<std::uint64_t, 4>;

/// "Riegeli/records\nRiegeli/records\n".
inline constexpr highway_key kRiegeliKey = {0x2f696c6567656952, 0x0a7364726f636572, 0x2f696c6567656952,
                                            0x0a7364726f636572};

std::uint64_t highway_hash(const highway_key& key, std::string_view bytes) noexcept;

}  // namespace sluice::lib
