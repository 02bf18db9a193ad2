// SPDX-License-Identifier: Apache-2.0
// interleave with order::sloppy, which delivers from any inner stream that has an element.
#pragma once

#include "engine/inner/inner_plans.hpp"

namespace sluice::lib {

erased_stream sloppy_interleave(outlet out, erased_stream outer, inner_plans inners, std::uint32_t width);

}  // namespace sluice::lib
