// SPDX-License-Identifier: Apache-2.0
// Counts the bytes of an element's contents, wherever they are stored. The result is the same in every run and on every
// machine, unlike the capacities that footprint() counts.
#pragma once

#include <cstddef>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Numbers count their size, texts their bytes, tensors their elements, lists, arrays and optionals their contents,
/// structures, pairs and tuples the sum of their members. Batches count the memory that they own, and classes that
/// describe themselves their size and that memory.
std::size_t content_bytes(const element_type& t, const void* element);

}  // namespace sluice::lib
