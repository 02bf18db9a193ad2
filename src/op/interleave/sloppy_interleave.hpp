// SPDX-License-Identifier: Apache-2.0
// interleave with order::sloppy: whichever inner stream has something.
#pragma once

#include "engine/inner/inner_plans.hpp"

namespace sluice::lib {

erased_stream sloppy_interleave(outlet out, erased_stream outer, inner_plans inners, std::uint32_t width);

}  // namespace sluice::lib
