// SPDX-License-Identifier: Apache-2.0
// Reads a JSON document as an argument, in one pass and before any operator is looked up.
#pragma once

#include <string_view>

#include "plan/codecs/argument.hpp"

namespace sluice::lib::detail {

/// Objects are numbered from 1, in the order in which they begin.
/// A plan's stages stand two objects or lists below each other, as inputs or as arguments.
/// Errors: `error`, invalid_argument: not JSON (with line and column), too deep, too long.
/// Costs: linear in the text. Values take up to about forty times its memory, lists of numbers no more than their text.
argument read_json(std::string_view text);

}  // namespace sluice::lib::detail
