// SPDX-License-Identifier: Apache-2.0
// What stages that compute one output for each input have in common: map's loops around any such function.
#pragma once

#include "engine/open_context.hpp"
#include "sluice/op/map.hpp"

namespace sluice::lib {

/// `f` is a block_function or an async_function over the elements of n's input, giving n's.
erased_stream open_mapped(const node& n, open_context& context, const function_ptr& f, const map_options& o);

}  // namespace sluice::lib
