// SPDX-License-Identifier: Apache-2.0
// Writes consecutive numbers, for range and counter.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// Overflow wraps as in two's complement. The usual step has its own loop, which is vectorized: baseline x86-64 has no
/// product of 64-bit words for any other step. The loop writes 32 numbers at once: with four at once, the compiler's
/// default for an unknown n, the loop's own instructions take as long as the stores.
inline void count_up(std::int64_t* to, std::uint32_t n, std::uint64_t value, std::uint64_t step) {
  if (step == 1) {
    constexpr std::uint32_t kAtOnce = 32;
    for (; n >= kAtOnce; n -= kAtOnce, to += kAtOnce, value += kAtOnce)
      for (std::uint64_t i = 0; i != kAtOnce; ++i) to[i] = static_cast<std::int64_t>(value + i);
  }
  for (; n != 0; --n, ++to, value += step) *to = static_cast<std::int64_t>(value);
}

}  // namespace sluice::lib
