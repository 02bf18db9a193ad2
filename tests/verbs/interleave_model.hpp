// SPDX-License-Identifier: Apache-2.0
// What the cases of interleave and its tests share.
#pragma once

#include <cstdint>

#include "op/opened_elements.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/memory_files.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::interleave_case {

using namespace test;
using int64 = std::int64_t;

inline std::uint64_t block_length(const verb_use& use) { return 1 + use.b % 4; }

}  // namespace sluice::lib::interleave_case
