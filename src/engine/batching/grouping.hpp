// SPDX-License-Identifier: Apache-2.0
// The number of elements that stages which group elements request at once: batch, window.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Small groups are built several at a time: one request builds about this number of elements.
inline constexpr std::uint64_t kGroupedPerRequest = 4096;
/// The bytes of elements requested at once. Each stage upstream has its own copy of a block, and all copies should
/// still be in the core's L2 cache when groups are gathered from them.
inline constexpr std::uint64_t kGroupedBytes = 64 << 10;

inline std::uint64_t grouped_at_once(const element_type& t) {
  return std::clamp<std::uint64_t>(kGroupedBytes / t.size, 32, kGroupedPerRequest);
}

}  // namespace sluice::lib
