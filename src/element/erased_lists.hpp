// SPDX-License-Identifier: Apache-2.0
// Lists and optionals of elements that the program's C++ code does not name. Their descriptors have the layout that the
// standard library gives std::vector and std::optional, so that a program which names the type later gets the same one.
#pragma once

#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// Returns true if a std::vector consists of three pointers (the first element, the end of the elements, the end of the
/// memory), and a std::optional has its flag directly after the value. Both hold in libstdc++ and libc++, but not in
/// their debug modes.
bool lists_have_known_layout();

/// Both REQUIRE: lists_have_known_layout().
element_type make_list_type(const element_type& element);
element_type make_maybe_type(const element_type& element);

}  // namespace sluice::lib::detail
