// SPDX-License-Identifier: Apache-2.0
// How many bytes an element's contents are, wherever they lie: the same in every run and on every machine, which the
// capacities that footprint() counts are not.
#pragma once

#include <cstddef>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Numbers their size, texts their bytes, tensors their elements, lists, arrays and optionals what they have, structures, pairs
/// and tuples the sum of their members. Of batches what they own, and of classes that describe themselves their size and that.
std::size_t content_bytes(const element_type& t, const void* element);

}  // namespace sluice::lib
