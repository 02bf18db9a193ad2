// SPDX-License-Identifier: Apache-2.0
// Rules for output types that several operators share, for op_info::type.
#pragma once

#include <cstddef>
#include <string>

#include "sluice/engine/detail/functions.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Returns the element type of the input.
const element_type* same_type(const node& n, std::string& why);
/// Returns the type of the first `inputs` inputs of a combine, which must be the same.
const element_type* type_of_inputs(const node& n, std::size_t inputs, std::string& why);
/// Returns the type of f's result. Fails unless f accepts the elements of n's input.
const element_type* type_of_function(const node& n, const function_ptr& f, std::string& why);
/// Returns the type of the elements of the plans that are opened for each element. A reader accepts paths.
const element_type* type_of_inner(const node& n, const plan_or_function& inner, std::string& why);
/// Corrects the facts of a stage with the option `order`: a sloppy one yields another order in each run.
void note_order(stage_facts& f, order o);

}  // namespace sluice::lib
