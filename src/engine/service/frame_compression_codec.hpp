// SPDX-License-Identifier: Apache-2.0
// The codec of distribute's compression, which also reads "auto". It changes the speed of a run, but no elements.
// Include this header before arguments_of<A> is named.
#pragma once

#include "plan/codecs/arguments_of.hpp"
#include "sluice/engine/distribute_options.hpp"

namespace sluice::lib {

template <> const codec& codec_of<frame_compression>();

}  // namespace sluice::lib
