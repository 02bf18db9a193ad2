// SPDX-License-Identifier: Apache-2.0
// The codec of a column_schema_arg, which prints and reads it as text.
#pragma once

#include "plan/codecs/argument_codec.hpp"
#include "sluice/engine/column_schema.hpp"

namespace sluice::lib {

template <class T> const codec& codec_of();
template <> const codec& codec_of<column_schema_arg>();

}  // namespace sluice::lib
