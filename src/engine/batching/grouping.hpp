// SPDX-License-Identifier: Apache-2.0
// How many elements a stage asks for at once that groups them: batch, window.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Small groups are built several at a time: one request builds about this number of elements.
inline constexpr std::uint64_t kGroupedPerRequest = 4096;
/// Elements asked for at once, in bytes: each stage below has its own copy of a block, and all of them should still be in
/// the core's L2 when the elements get here, where groups are gathered from them.
inline constexpr std::uint64_t kGroupedBytes = 64 << 10;

inline std::uint64_t grouped_at_once(const element_type& t) {
  return std::clamp<std::uint64_t>(kGroupedBytes / t.size, 32, kGroupedPerRequest);
}

}  // namespace sluice::lib
