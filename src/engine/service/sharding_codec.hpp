// SPDX-License-Identifier: Apache-2.0
// The codec of distribute's mode, which also reads tf.data's names of it.
// Include this header before arguments_of<A> is named.
#pragma once

#include <string_view>

#include "plan/codecs/arguments_of.hpp"
#include "sluice/plan/split_rule.hpp"

namespace sluice::lib {

template <> const codec& codec_of<sharding>();
/// "file_or_data"
std::string_view mode_name(sharding mode);

}  // namespace sluice::lib
