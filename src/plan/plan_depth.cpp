// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_depth.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/memory/stack.hpp"

namespace sluice::lib {
namespace {

/// The largest measured stack use of a level: 2,912 bytes, for opening a map with parallelism in the release build of
/// clang 19. tests/cli/bounds_test.py runs plans of all kinds at the limit.
constexpr std::size_t kStackBytesPerStage = 4096;
/// For the functions that the deepest level calls: opening a file, inferring a schema, formatting an error.
constexpr std::size_t kStackBytesBelow = std::size_t{48} << 10;
/// For the callers of the first level.
constexpr std::size_t kStackBytesAbove = std::size_t{48} << 10;
/// Stacks begin at random addresses within some pages. After subtracting this amount and rounding down, the stack's
/// size is the same in each process.
constexpr std::size_t kStackBytesRandom = std::size_t{16} << 10;
constexpr std::size_t kStackBytesRounded = std::size_t{32} << 10;

std::size_t levels_in(std::size_t bytes, std::size_t besides) {
  return (bytes - std::min(bytes, besides)) / kStackBytesPerStage;
}

}  // namespace

std::uint32_t plan_depth_max() noexcept {
  const std::size_t whole = stack_bytes();
  const std::size_t bytes = (whole - std::min(whole, kStackBytesRandom)) / kStackBytesRounded * kStackBytesRounded;
  const std::size_t levels =
      std::min(levels_in(bytes, kStackBytesAbove + kStackBytesBelow), levels_in(stack_left(), kStackBytesBelow));
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(levels, kPlanDepthAlways, kPlanDepthMax));
}

std::string plan_depth_limit_text(std::uint32_t depth_max) {
  std::string text = absl::StrCat(depth_max, " stages deep");
  if (depth_max != kPlanDepthMax)
    absl::StrAppend(&text, ", and this thread's stack of ", stack_bytes() >> 10,
                    " KiB has room for no more: a stack of 8 MiB (ulimit -s 8192) allows ", kPlanDepthMax);
  return text;
}

}  // namespace sluice::lib
