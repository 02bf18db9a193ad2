// SPDX-License-Identifier: Apache-2.0
// Finds the arguments of a plan's text that can only be expressions: they contain an operator, as in filter(it % 2 ==
// 0), or brackets that no other argument has. A single scan of the characters decides this before the grammar is read.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice::lib::detail {

/// A range of bytes of the text.
struct text_range {
  std::size_t from, end;
};

/// Returns the ranges, ordered by their beginnings.
std::vector<text_range> find_expressions(std::string_view plan);

}  // namespace sluice::lib::detail
