// SPDX-License-Identifier: Apache-2.0
// The functions that the plans of tests/golden/plans.tsv name.
#pragma once

#include "sluice/sluice.hpp"

namespace sluice::lib::test {

inline stream<std::int64_t> golden_twice_stage(stream<std::int64_t> in) {
  while (auto x = co_await in.next()) co_yield *x * 2;
}
inline stream<std::int64_t> golden_three_source() {
  for (std::int64_t i = 0; i != 3; ++i) co_yield i;
}
inline task<std::int64_t> golden_fetch_task(std::int64_t x) { co_return x; }

SLUICE_FUNCTION_VERSION(golden_next, 7, [](std::int64_t x) { return x + 1; });
SLUICE_FUNCTION(golden_draw,
                [](std::int64_t x, random_source& random) { return x + static_cast<std::int64_t>(random.below(8)); });
SLUICE_FUNCTION(golden_fetch, &golden_fetch_task);
SLUICE_FUNCTION(golden_odd, [](const std::int64_t& x) { return x % 2 != 0; });
SLUICE_FUNCTION_VERSION(golden_size, 2, [](const line& l) { return static_cast<std::int64_t>(l.view().size()); });
SLUICE_FUNCTION(golden_up_to, [](std::int64_t x) { return range(x); });
SLUICE_FUNCTION(golden_sum, [](std::int64_t& sum, std::int64_t x) { return sum += x; });
SLUICE_FUNCTION_VERSION(golden_add, 3, [](std::int64_t& sum, const std::int64_t& x) { sum += x; });
SLUICE_FUNCTION(golden_twice, &golden_twice_stage);
SLUICE_FUNCTION(golden_three, &golden_three_source);

}  // namespace sluice::lib::test
