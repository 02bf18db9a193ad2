// SPDX-License-Identifier: Apache-2.0
// Finds the lines of a file that the elements of a stage come from, so that an error of an element names its line:
//
//   lines("a.txt") | skip(1) | map(to_number(it))       // the element with ordinal 4 is line 6 of a.txt
//
// Everything follows from the plan when the stage is opened, so elements cost nothing.
#pragma once

#include "engine/lowering/error_gate.hpp"
#include "engine/lowering/open_context.hpp"

namespace sluice::lib {

/// Returns the origin of the elements that the stage of `n` gets. Only a source of lines numbers its elements. A number
/// is known if the stages between it and `n` yield one element for each line, or leave out a known number of them at the
/// start. Only the file is known if they leave out others (filter), or drop bad elements. A line above the limit of a
/// line is not counted if the run drops it.
element_origin origin_of_input(const node& n, const open_context& context);

}  // namespace sluice::lib
