// SPDX-License-Identifier: Apache-2.0
// The amount that a consumer asks for with one request on a stream.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// Skip `skip` elements without delivering them, then deliver 1..elements, of about `bytes` bytes or fewer. `elements`
/// 0 means 1. Only the delivery of an element shows how many were skipped.
struct demand {
  // Half of a core's L2 cache: a block of this size stays in the cache.
  static constexpr std::uint32_t kBytes = 1u << 20;
  static constexpr std::uint64_t kAll = ~std::uint64_t{0} >> 2;  // more elements than a stream has, and safe to add to
  std::uint64_t skip = 0;
  std::uint32_t elements = 1;
  std::uint32_t bytes = kBytes;
};

}  // namespace sluice::lib
