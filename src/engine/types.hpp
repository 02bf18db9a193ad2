// SPDX-License-Identifier: Apache-2.0
// Rules of output types that several operators share: for op_info::type and op_info::accepts.
#pragma once

#include <string>

#include "sluice/engine/functions.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// The input's.
const element_type* same_type(const node& n, std::string& why);
/// What the function gives; it must take what the input gives.
const element_type* type_of_function(const node& n, std::string& why);
/// What the plans give that the function opens, or the reader; a reader takes paths.
const element_type* type_of_inner(const node& n, std::string& why);

template <class F> bool is_a(const stage_function& f) { return dynamic_cast<const F*>(&f) != nullptr; }

}  // namespace sluice::lib
