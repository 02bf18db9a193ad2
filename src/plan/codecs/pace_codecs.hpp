// SPDX-License-Identifier: Apache-2.0
// The codecs of times, rates and amounts (sluice/base/pace_types.hpp), for the operators that have such arguments.
// Include this header before arguments_of<A> is named.
#pragma once

#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/pace_types.hpp"

namespace sluice::lib {

template <> const codec& codec_of<time_span>();
template <> const codec& codec_of<rate>();
template <> const codec& codec_of<amount>();

}  // namespace sluice::lib
