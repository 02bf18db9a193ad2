// SPDX-License-Identifier: Apache-2.0
// What the cases of weighted_flat_map and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::weighted_flat_map_case {

using namespace test;
using int64 = std::int64_t;

inline dataset<int64> numbers_from(int64 first, int64 n) { return range(added(first, n), {.start = first}); }

}  // namespace sluice::lib::weighted_flat_map_case
