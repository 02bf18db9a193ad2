// SPDX-License-Identifier: Apache-2.0
// What the cases of unique and its tests share.
#pragma once

#include <cstdint>
#include <set>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::unique_case {

using namespace test;
using int64 = std::int64_t;

inline int64s first_of_each(const int64s& in) {
  int64s out;
  std::set<int64> seen;
  for (int64 x : in)
    if (seen.insert(x).second) out.push_back(x);
  return out;
}

}  // namespace sluice::lib::unique_case
