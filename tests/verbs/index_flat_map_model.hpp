// SPDX-License-Identifier: Apache-2.0
// What the cases of index_flat_map and its tests share.
#pragma once

#include <cstdint>
#include <utility>

#include "base/index_permutation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::index_flat_map_case {

using namespace test;
using int64 = std::int64_t;
using place = std::pair<int64, int64>;

/// 0 to 3 elements.
inline int64s list_of(int64 x, std::uint64_t b) {
  int64s all;
  const std::uint64_t n = mix(static_cast<std::uint64_t>(x) ^ b) % 4;
  for (std::uint64_t i = 0; i != n; ++i) all.push_back(number_of(x, static_cast<int64>(i)));
  return all;
}

inline int64s flat(const int64s& in, std::uint64_t b) {
  int64s out;
  for (int64 x : in)
    for (int64 y : list_of(x, b)) out.push_back(y);
  return out;
}

inline place nowhere(int64) { return {0, 0}; }

}  // namespace sluice::lib::index_flat_map_case
