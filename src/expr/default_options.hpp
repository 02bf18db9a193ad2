// SPDX-License-Identifier: Apache-2.0
// The structures whose members calls may name (sluice/expr/named_arguments.hpp).
#pragma once

#include <string>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// Returns a structure of this type with the values of members that a call leaves out; null if its members cannot be
/// named.
const char* default_options(const element_type& t);
/// Returns the last parameter of a function with the parameters `in` if its members can be named; otherwise null.
const element_type* options_in(const element_type& in);
/// Returns the parameters of a function: "int64", "(int64, string)", or "(string, channels=0, gray=false)".
std::string parameters_text(const element_type& in);

}  // namespace sluice::lib
