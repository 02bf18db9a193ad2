// SPDX-License-Identifier: Apache-2.0
// What a consumer asks for with one request on a stream.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// Pass over `skip` elements without delivering them, then deliver 1..elements, of about `bytes` bytes or fewer. A request
/// always asks for one element at least, so 0 of `elements` mean 1; only so is the count passed over known.
struct demand {
  static constexpr std::uint32_t kBytes = 1u << 20;  // half of a core's L2: what a block may hold and stay cache-hot
  static constexpr std::uint64_t kAll = ~std::uint64_t{0} >> 2;  // more elements than a stream has, and safe to add to
  std::uint64_t skip = 0;
  std::uint32_t elements = 1;
  std::uint32_t bytes = kBytes;
};

}  // namespace sluice::lib
