// SPDX-License-Identifier: Apache-2.0
// What the cases of round_robin and its tests share.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::round_robin_case {

using namespace test;
using int64 = std::int64_t;

/// By a plain loop.
inline int64s by_turns(const std::vector<int64s>& from, bool stop) {
  int64s out;
  std::size_t left = 0;
  for (auto& v : from) left += v.size();
  for (std::size_t k = 0; left != 0; ++k)
    for (auto& v : from) {
      if (k < v.size()) {
        out.push_back(v[k]);
        --left;
      } else if (stop) {
        return out;
      }
    }
  return out;
}

}  // namespace sluice::lib::round_robin_case
