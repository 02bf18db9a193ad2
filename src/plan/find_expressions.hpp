// SPDX-License-Identifier: Apache-2.0
// Which arguments of a plan's text can only be expressions: they have an operator, as in filter(it % 2 == 0), or brackets that
// no other argument has. Told from the signs alone, in one pass, before the grammar is read.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace sluice::lib::detail {

/// Bytes of the text.
struct text_range {
  std::size_t from, end;
};

/// By where they begin.
std::vector<text_range> find_expressions(std::string_view plan);

}  // namespace sluice::lib::detail
