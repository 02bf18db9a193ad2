// SPDX-License-Identifier: Apache-2.0
// What the cases of pad_to_cardinality and its tests share.
#pragma once

#include <cstdint>
#include <utility>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::pad_to_cardinality_case {

using namespace test;
using int64 = std::int64_t;

inline std::int64_t number_of_padded(const std::pair<int64, bool>& p) { return number_of(p.first, p.second ? 1 : 0); }

inline int64s padded(const int64s& in, std::size_t n) {
  int64s out;
  for (int64 x : in) out.push_back(number_of(x, 1));
  while (out.size() < n) out.push_back(number_of(0, 0));
  return out;
}

}  // namespace sluice::lib::pad_to_cardinality_case
