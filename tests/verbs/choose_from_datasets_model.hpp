// SPDX-License-Identifier: Apache-2.0
// What the cases of choose_from_datasets and its tests share.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::choose_from_datasets_case {

using namespace test;
using int64 = std::int64_t;

/// By a plain loop.
inline int64s chosen(const std::vector<int64s>& from, const int64s& selector, bool stop) {
  int64s out;
  std::vector<std::size_t> at(from.size());
  for (int64 k : selector) {
    auto i = static_cast<std::size_t>(k);
    if (at[i] != from[i].size()) out.push_back(from[i][at[i]++]);
    else if (stop) break;
  }
  return out;
}

inline int64 choice(int64 x, std::size_t datasets) {
  return static_cast<int64>(mix(static_cast<std::uint64_t>(x)) % datasets);
}

}  // namespace sluice::lib::choose_from_datasets_case
