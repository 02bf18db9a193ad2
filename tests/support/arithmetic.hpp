// SPDX-License-Identifier: Apache-2.0
// What stages of random plans compute, for the engine and for the loops that it is compared with. All of it is defined for
// every number: sums of sums overflow.
#pragma once

#include <cstdint>
#include <utility>

#include "sluice/base/random_bits.hpp"

namespace sluice::lib::test {

inline std::int64_t added(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
}
inline std::int64_t times(std::int64_t x, std::int64_t y) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
}
/// A function of `b`, from element to element.
inline std::int64_t affine(std::int64_t x, std::uint64_t b) { return added(times(x, 3), static_cast<std::int64_t>(b)); }
/// Two of three elements.
inline bool is_kept(std::int64_t x, std::uint64_t b) { return mix(static_cast<std::uint64_t>(x) ^ b) % 3 != 0; }
/// One of five.
inline bool is_bad(std::int64_t x, std::uint64_t b) { return mix(static_cast<std::uint64_t>(x) + b) % 5 == 0; }

/// One number for several, which tells them and their order: begin with the first, add one after the other.
inline std::int64_t number_of(std::int64_t so_far, std::int64_t next) { return added(times(so_far, 7), next); }
inline std::int64_t number_of_pair(const std::pair<std::int64_t, std::int64_t>& p) {
  return number_of(p.first, p.second);
}

/// What sources give: other numbers in each inner plan. `opened_for`: the element that it was opened for, or 0.
inline std::int64_t source_element(std::int64_t index, std::int64_t opened_for) {
  return added(index, times(opened_for % 1000003, 17));
}

}  // namespace sluice::lib::test
