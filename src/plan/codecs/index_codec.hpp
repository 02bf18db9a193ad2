// SPDX-License-Identifier: Apache-2.0
// The codec of the argument `index` of readers (sluice/base/index_types.hpp). Include this header before arguments_of<A>
// is named.
#pragma once

#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/index_types.hpp"

namespace sluice::lib {

template <> const codec& codec_of<file_index>();

}  // namespace sluice::lib
