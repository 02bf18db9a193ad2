// SPDX-License-Identifier: Apache-2.0
// What the cases of sparse_batch and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::sparse_batch_case {

using namespace test;
using int64 = std::int64_t;

inline std::size_t sparse_length(int64 x) { return static_cast<std::size_t>(static_cast<std::uint64_t>(x) % 4); }

inline int64s sparse_list(int64 x) { return int64s(sparse_length(x), x); }

inline int64 number_of_sparse(const sparse_tensor& s) {
  int64 all = 0;
  for (int64 d : s.dense_shape) all = number_of(all, d);
  if (s.size() == 0) return all;
  for (int64 i : s.indices.values<int64>()) all = number_of(all, i);
  for (int64 v : s.values.values<int64>()) all = number_of(all, v);
  return all;
}

}  // namespace sluice::lib::sparse_batch_case
