// SPDX-License-Identifier: Apache-2.0
// What the cases of concatenate and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::concatenate_case {

using namespace test;
using int64 = std::int64_t;

inline int64s joined(int64s a, const int64s& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace sluice::lib::concatenate_case
