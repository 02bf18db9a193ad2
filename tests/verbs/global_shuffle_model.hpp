// SPDX-License-Identifier: Apache-2.0
// What the cases of global_shuffle and its tests share.
#pragma once

#include <cstdint>
#include <numeric>

#include "base/index_permutation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::global_shuffle_case {

using namespace test;
using int64 = std::int64_t;

inline int64s in_order(const int64s& in, std::uint64_t drawn_by) {
  int64s out;
  if (in.empty()) return out;
  index_permutation order(in.size(), drawn_by);
  for (std::uint64_t i = 0; i != in.size(); ++i) out.push_back(in[order[i]]);
  return out;
}

inline int64s numbers_up_to(int64 n) {
  int64s all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace sluice::lib::global_shuffle_case
