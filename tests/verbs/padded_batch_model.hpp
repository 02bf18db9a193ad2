// SPDX-License-Identifier: Apache-2.0
// What the cases of padded_batch and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/counting_element.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::padded_batch_case {

using namespace test;
using int64 = std::int64_t;

/// 0 to 3 numbers that begin with x.
inline int64s some_of(int64 x) { return int64s(static_cast<std::size_t>(static_cast<std::uint64_t>(x) % 4), x); }

inline int64 sum_of_row(int64s row) {
  int64 sum = static_cast<int64>(row.size());
  for (int64 x : row) sum = static_cast<int64>(static_cast<std::uint64_t>(sum) * 31 + static_cast<std::uint64_t>(x));
  return sum;
}

inline dataset<int64> padded(const dataset<int64>& in, int64 size) {
  return in | map(some_of) | padded_batch(size, {.values = {{"it", 7}}}) | unbatch() | map(sum_of_row);
}

}  // namespace sluice::lib::padded_batch_case
