// SPDX-License-Identifier: Apache-2.0
// Arguments by name in calls of registered functions.
//
//   struct photo_options { std::int64_t quality = 90; bool gray = false; };
//   accept_by_name(type_of<photo_options>());
//   SLUICE_FUNCTION(compress, [](const tensor& photo, const photo_options& o) { … });
//   map(compress(image, gray=true))             // in plan text: quality is 90
//   map(compress(image, 50))
//
// A function whose last parameter is such a structure is called with values for the parameters before it, which may be
// followed by values for the first members of the structure, and then by other members with their names. Members without
// a value have that of a structure that was constructed without arguments.
// Thread: any.
#pragma once

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Declares that functions accept members of this structure by name. REQUIRES: it has a default constructor, and its
/// members can be copied. Later calls for the same type do nothing. Call it before plans that use such functions are
/// made, such as in a static initializer beside SLUICE_FUNCTION.
void accept_by_name(const element_type& options);

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::accept_by_name;

}  // namespace sluice
