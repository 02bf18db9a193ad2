// SPDX-License-Identifier: Apache-2.0
// The errors of the computations of a channel: an input that fails ends its slot, or is dropped.
#pragma once

#include <cstdint>

#include "ahead/slot.hpp"
#include "engine/lowering/error_gate.hpp"
#include "sluice/coro/dropped_errors.hpp"

namespace sluice::lib {

/// Stores the error of the input with this number in the slot. `bytes`: the text of the input, if it is kept. Returns
/// true if the input is dropped and the next one must be computed. Thread: the computation's.
bool drop_or_fail(ring_slot* slot, std::uint32_t input, const status& why, const error_gate& gate, kept_bytes bytes);

}  // namespace sluice::lib
