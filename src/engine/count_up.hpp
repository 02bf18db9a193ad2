// SPDX-License-Identifier: Apache-2.0
// Numbers in a row: range, counter.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// Wraps as two's complement does. The usual step has a loop of its own, which is vectorised (an index of 64 bits, as the numbers
/// have): baseline x86-64 has no product of 64-bit words for any other.
inline void count_up(std::int64_t* to, std::uint32_t n, std::uint64_t value, std::uint64_t step) {
  if (step == 1) {
    for (std::uint64_t i = 0; i != n; ++i) to[i] = static_cast<std::int64_t>(value + i);
  } else {
    for (std::uint32_t i = 0; i != n; ++i, value += step) to[i] = static_cast<std::int64_t>(value);
  }
}

}  // namespace sluice::lib
