// SPDX-License-Identifier: Apache-2.0
// What the cases of rebatch and its tests share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::rebatch_case {

using namespace test;
using int64 = std::int64_t;

inline int64 folded(const batched<int64>& b) {
  int64 n = b.size();
  for (int64 x : b.values()) n = number_of(n, x);
  return n;
}

inline int64s refolded(const int64s& in, const std::vector<std::size_t>& sizes, bool drop_remainder) {
  int64s out;
  std::size_t at = 0;
  for (std::size_t k = 0; at != in.size(); ++k) {
    std::size_t n = std::min(sizes[k % sizes.size()], in.size() - at);
    if (drop_remainder && n != sizes[k % sizes.size()]) break;
    auto number = static_cast<int64>(n);
    for (std::size_t i = 0; i != n; ++i) number = number_of(number, in[at + i]);
    out.push_back(number);
    at += n;
  }
  return out;
}

}  // namespace sluice::lib::rebatch_case
