// SPDX-License-Identifier: Apache-2.0
// What the cases of pack_sequences and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::pack_sequences_case {

using namespace test;
using int64 = std::int64_t;

inline std::size_t sequence_length(int64 x) { return static_cast<std::size_t>(static_cast<std::uint64_t>(x) % 9); }

inline int64s sequence_of(int64 x) {
  int64s tokens;
  for (std::size_t i = 0; i != sequence_length(x); ++i) tokens.push_back(added(x, static_cast<int64>(i)));
  return tokens;
}

inline int64 number_of_packed(const packed_row& r) {
  int64 all = static_cast<int64>(r.tokens.size());
  for (std::size_t i = 0; i != r.tokens.size(); ++i) {
    all = number_of(all, r.tokens[i]);
    all = number_of(all, r.segments[i] * 100 + r.positions[i]);
  }
  return all;
}

}  // namespace sluice::lib::pack_sequences_case
