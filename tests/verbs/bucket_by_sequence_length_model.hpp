// SPDX-License-Identifier: Apache-2.0
// What the cases of bucket_by_sequence_length and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::bucket_by_sequence_length_case {

using namespace test;
using int64 = std::int64_t;

inline std::size_t length_for(int64 x) { return static_cast<std::size_t>(static_cast<std::uint64_t>(x) % 5); }

inline int64s list_of_length(int64 x) { return int64s(length_for(x), x); }

}  // namespace sluice::lib::bucket_by_sequence_length_case
