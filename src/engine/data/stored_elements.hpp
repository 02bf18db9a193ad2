// SPDX-License-Identifier: Apache-2.0
// The stream of a source whose elements are in memory: from_elements, from_tensor_slices, and the lists that
// interleave([it, -it]) opens.
//
// Owns:   a share of the elements. Each stream delivers copies.
// State:  the number of delivered elements. Skipping costs nothing.
#pragma once

#include <memory>

#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/plan/arguments.hpp"

namespace sluice::lib {

/// `elements`: an elements_function. `memory`: the account that they are charged to until the stream ends; null: not
/// charged.
erased_stream stored_elements(function_ptr elements, std::shared_ptr<held_memory> memory = nullptr);

}  // namespace sluice::lib
