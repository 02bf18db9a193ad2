// SPDX-License-Identifier: Apache-2.0
// The codec of arrow_schema_arg (sluice/engine/arrow_schema.hpp).
#pragma once

#include "plan/codecs/argument_codec.hpp"
#include "sluice/engine/arrow_schema.hpp"

namespace sluice::lib {

template <class T> const codec& codec_of();
template <> const codec& codec_of<arrow_schema_arg>();

}  // namespace sluice::lib
