// SPDX-License-Identifier: Apache-2.0
// What the cases of shard and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::shard_case {

using namespace test;
using int64 = std::int64_t;

inline int64s shard_of(const int64s& in, std::size_t shards, std::size_t index) {
  int64s out;
  for (std::size_t i = index; i < in.size(); i += shards) out.push_back(in[i]);
  return out;
}

}  // namespace sluice::lib::shard_case
