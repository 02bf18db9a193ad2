// SPDX-License-Identifier: Apache-2.0
// Elements as bytes (sluice/element/serialise.hpp) without copies of their long parts.
#pragma once

#include "base/byte_parts.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Appends the bytes of serialise_bare(). Those of long tensors, lists of numbers and texts are views of the element.
void serialise_bare(const element_type& t, const void* p, byte_parts& out);

}  // namespace sluice::lib
