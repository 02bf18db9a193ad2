// SPDX-License-Identifier: Apache-2.0
// The coroutine of a deterministic interleave, which is flat_map's as well: a cycle of one slot, visited to its end.
#pragma once

#include <cstdint>

#include "engine/inner/cycle.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

/// Visits `width` slots in order, and takes `run` elements in one visit; kToTheEnd: until the slot's dataset ends.
erased_stream interleave_loop(outlet out, saved<cycle> c, erased_stream outer, inner_plans inners, std::uint32_t width,
                              std::uint64_t run);

}  // namespace sluice::lib
