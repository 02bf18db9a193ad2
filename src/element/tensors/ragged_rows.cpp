// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/ragged_rows.hpp"

#include <utility>
#include <vector>

namespace sluice::lib::detail {

ragged_tensor ragged(const element_type& row, const column* c, std::size_t first, std::size_t n) {
  ragged_tensor made;
  made.row_splits.clear();
  const element_type* t = &row;
  for (; t->kind == kind::list; t = t->element) {
    std::vector<std::int64_t>& splits = made.row_splits.emplace_back(1, 0);
    if (n == 0) continue;  // the columns further down may not exist either
    const std::int32_t* at = c->offsets() + first;
    for (std::size_t i = 1; i <= n; ++i) splits.push_back(at[i] - at[0]);
    first = static_cast<std::size_t>(at[0]);
    n = static_cast<std::size_t>(splits.back());
    c = &c->child(0);
  }
  made.values = stacked(*t, c, first, n);
  return made;
}

}  // namespace sluice::lib::detail
