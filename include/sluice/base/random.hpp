// SPDX-License-Identifier: Apache-2.0
// Random numbers as a function of where they are used, so that any of them can be had again without those before it.
//
//   auto slot = draw(seed, position, buffer_size);        // the position-th draw of this stage: 0 … buffer_size - 1
//   auto epoch_seed = derive(seed, epoch);                // an independent stream of draws
//
// SplitMix64's finaliser (Steele, Lea, Flood 2014) over a counter: passes BigCrush as a generator, costs 1 ns. Not for
// secrets. The numbers are part of the checkpoint format: they never change.
#pragma once

#include <cstdint>

namespace sluice {

/// A bijection of 64-bit words that looks like noise.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A seed for something of its own (an epoch, a stage, a worker): derive(derive(s, a), b) and derive(derive(s, b), a)
/// are unrelated.
constexpr std::uint64_t derive(std::uint64_t seed, std::uint64_t key) noexcept {
  return mix(seed ^ mix(key ^ 0x5851f42d4c957f2du));
}

/// The counter-th word of a seed's stream.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t counter) noexcept { return mix(seed ^ mix(counter)); }

/// The same, as a number below `below` (≥ 1), by the high half of a 128-bit product: no division, and a bias below
/// 2⁻⁶⁴ · below, far under what any run could notice.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t counter, std::uint64_t below) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(draw(seed, counter)) * below >> 64);
}

}  // namespace sluice
