// SPDX-License-Identifier: Apache-2.0
// The depth that a plan may have on the current thread. Functions over plans recurse by depth: reading, checking,
// printing, opening, and destroying. On a stack of 8 MiB, which is usual, only kPlanDepthMax limits a plan
// (docs/internals/decisions/plan_arguments.md). A smaller stack sets a lower limit.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Plans up to this depth are allowed on every stack, and the stack is not examined for them.
inline constexpr std::uint32_t kPlanDepthAlways = 16;

/// Returns the largest depth of a plan that fits the rest of the thread's stack; at most kPlanDepthMax.
std::uint32_t plan_depth_max() noexcept;

/// Returns true if a plan of this depth fits.
inline bool is_plan_depth_possible(std::uint32_t depth) noexcept {
  return depth <= kPlanDepthAlways || (depth <= kPlanDepthMax && depth <= plan_depth_max());
}

/// Describes the limit, to follow words such as "the plan is more than ": "1000 stages deep", or for a small stack "45
/// stages deep, and this thread's stack of 256 KiB has room for no more: a stack of 8 MiB (ulimit -s 8192) allows
/// 1000".
std::string plan_depth_limit_text(std::uint32_t depth_max = plan_depth_max());

}  // namespace sluice::lib
