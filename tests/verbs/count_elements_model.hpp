// SPDX-License-Identifier: Apache-2.0
// What the cases of count_elements and its tests share.
#pragma once

#include <cstdint>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::count_elements_case {

using namespace test;
using int64 = std::int64_t;

inline int64s counted(const int64s& in) { return {static_cast<int64>(in.size())}; }

}  // namespace sluice::lib::count_elements_case
