// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: each is a function of a seed and a counter. So any of them can be computed again
// without the earlier ones, after a resume and on any thread.
//
//   auto slot = draw(seed, position, buffer_size);        // the position-th draw of this stage: 0 … buffer_size - 1
//   auto epoch_seed = derive(seed, epoch);                // an independent stream of draws
//   random_source random(derive(epoch_seed, element));    // for <random>, or random.below(6), random.uniform()
//
// SplitMix64's finalizer (Steele, Lea, Flood 2014) over a counter: passes BigCrush as a generator, costs 1 ns. Not for
// secrets. The numbers are part of the checkpoint format: they never change.
#pragma once

#include <cstdint>

namespace sluice::lib {

/// A bijection of 64-bit words whose results look random.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A seed for one of several independent streams of draws, such as those of epochs, stages or workers. The order of
/// keys matters: derive(derive(s, a), b) and derive(derive(s, b), a) are unrelated.
constexpr std::uint64_t derive(std::uint64_t seed, std::uint64_t key) noexcept {
  return mix(seed ^ mix(key ^ 0x5851f42d4c957f2du));
}

/// The counter-th word of a seed's stream.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t counter) noexcept { return mix(seed ^ mix(counter)); }

/// The word as a number below `below` (≥ 1), by the high half of a 128-bit product: without a division, and with a bias
/// below 2⁻⁶⁴ · below, which no run could detect.
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t counter, std::uint64_t below) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<wide>(draw(seed, counter)) * below >> 64);
}

/// The consecutive words of one seed, as a generator for the distributions of <random>. These distributions return
/// other numbers with other standard libraries; below() and uniform() return the same numbers everywhere.
class random_source {
 public:
  using result_type = std::uint64_t;
  explicit constexpr random_source(std::uint64_t seed) noexcept : seed_(seed) {}
  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~result_type{0}; }
  constexpr result_type operator()() noexcept { return draw(seed_, drawn_++); }
  /// Returns 0 … n - 1, for n ≥ 1.
  constexpr std::uint64_t below(std::uint64_t n) noexcept { return draw(seed_, drawn_++, n); }
  /// Returns a number in [0, 1), with 53 bits.
  constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::random_source;

}  // namespace sluice
