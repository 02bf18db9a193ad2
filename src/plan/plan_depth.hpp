// SPDX-License-Identifier: Apache-2.0
// How deep a plan may be on the current thread. Functions over plans recurse by their depth: reading, checking, printing,
// opening, and destroying. On a stack of 8 MiB, which is usual, kPlanDepthMax alone bounds a plan
// (docs/internals/decisions/plan_arguments.md); on a smaller one its stack does.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// On every stack plans may be so deep: the stack is not looked up for them.
inline constexpr std::uint32_t kPlanDepthAlways = 16;

/// The largest depth of a plan that the rest of the thread's stack has room for; at most kPlanDepthMax.
std::uint32_t plan_depth_max() noexcept;

/// Returns true if a plan of this depth fits.
inline bool is_plan_depth_possible(std::uint32_t depth) noexcept {
  return depth <= kPlanDepthAlways || (depth <= kPlanDepthMax && depth <= plan_depth_max());
}

/// Says how deep plans may be, behind words such as "the plan is more than ": "1000 stages deep", or for a small stack
/// "45 stages deep, and this thread's stack of 256 KiB has room for no more: a stack of 8 MiB (ulimit -s 8192) allows 1000".
std::string plan_depth_limit_text(std::uint32_t depth_max = plan_depth_max());

}  // namespace sluice::lib
