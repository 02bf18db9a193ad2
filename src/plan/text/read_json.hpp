// SPDX-License-Identifier: Apache-2.0
// Reads a JSON document as an argument, in one pass and before any operator is looked up.
#pragma once

#include <string_view>

#include "plan/codecs/argument.hpp"

namespace sluice::lib::detail {

/// Objects are numbered from 1, in the order in which they begin.
/// Each stage of a plan is nested two objects or lists deeper than the next one, as an input or as an argument.
/// Errors: `error`, invalid_argument: not JSON (with line and column), too deep, too long.
/// Costs: linear in the text. Values take up to about forty times its memory, lists of numbers no more than their text.
argument read_json(std::string_view text);

}  // namespace sluice::lib::detail
