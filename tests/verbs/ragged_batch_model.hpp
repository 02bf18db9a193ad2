// SPDX-License-Identifier: Apache-2.0
// What the cases of ragged_batch and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::ragged_batch_case {

using namespace test;
using int64 = std::int64_t;

inline int64 length_for(int64 x) { return static_cast<int64>(static_cast<std::uint64_t>(x) % 4); }

inline int64s list_of(int64 x) { return int64s(static_cast<std::size_t>(length_for(x)), x); }

inline tensor tensor_of(int64 x) { return tensor::of(list_of(x)); }

/// Splits and values of a ragged tensor as one number.
inline int64 number_of_ragged(const ragged_tensor& r) {
  int64 all = static_cast<int64>(r.size());
  for (auto& splits : r.row_splits)
    for (int64 s : splits) all = number_of(all, s);
  if (r.values.size())
    for (int64 v : r.values.values<int64>()) all = number_of(all, v);
  return all;
}

}  // namespace sluice::lib::ragged_batch_case
