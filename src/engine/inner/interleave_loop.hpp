// SPDX-License-Identifier: Apache-2.0
// The coroutine of a deterministic interleave. flat_map uses it with one slot, which is read to its end.
#pragma once

#include <cstdint>

#include "engine/inner/cycle.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

/// Visits `width` slots in order and delivers up to `run` elements in one visit; kToTheEnd: until the slot's dataset
/// ends.
erased_stream interleave_loop(outlet out, saved<cycle> c, erased_stream outer, inner_plans inners, std::uint32_t width,
                              std::uint64_t run);

}  // namespace sluice::lib
