// SPDX-License-Identifier: Apache-2.0
// For verbs that open a dataset for each element: a few elements, which tell where they come from.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"

namespace sluice::lib::test {

/// x opens x % 4 elements.
inline dataset<std::int64_t> opened_for(std::int64_t x) { return range(1000 * x + x % 4, {.start = 1000 * x}); }

inline std::vector<std::int64_t> one_after_the_other(const std::vector<std::int64_t>& in) {
  std::vector<std::int64_t> out;
  for (std::int64_t x : in)
    for (std::int64_t i = 0; i < x % 4; ++i) out.push_back(1000 * x + i);
  return out;
}

}  // namespace sluice::lib::test
