// SPDX-License-Identifier: Apache-2.0
// Lists and optionals of elements that no C++ code of the program names: descriptors with the layout that the standard
// library gives std::vector and std::optional, so that a program which names the type later gets the same one.
#pragma once

#include "sluice/element/type.hpp"

namespace sluice::lib::detail {

/// Has a std::vector three pointers here (the first element, the end of the elements, the end of the room), and a
/// std::optional its flag right behind the value? They do in libstdc++ and libc++, but not in their debug modes.
bool lists_have_known_layout();

/// REQUIRES of both: lists_have_known_layout().
element_type make_list_type(const element_type& element);
element_type make_maybe_type(const element_type& element);

}  // namespace sluice::lib::detail
