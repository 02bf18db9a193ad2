// SPDX-License-Identifier: Apache-2.0
// Rows that a stage appends to the columns of its consumer, instead of building elements that are copied there. It is
// used if a batch directly follows map or parse_example and the function supports it (block_function::append_rows).
//
//   auto landing = std::make_shared<row_landing>();
//   erased_stream in = context.open_rows(n.inputs[0], landing);   // empty: this stage builds elements
//   landing->rows = &column;                                      // before each request
//   auto b = co_await in.next_block(d);                           // b.size() rows have been appended
//
// The stream's elements are receipts, one for each row, so that everything that counts elements works unchanged:
// positions, ordinals, counters, skips, errors and dropped elements.
// Thread: as the stream's.
#pragma once

#include "sluice/element/column.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

struct row_landing {
  column* rows = nullptr;
};

/// The receipt of one appended row.
struct landed_row {
  std::uint32_t bytes;  ///< its approximate size, from its footprint
};
const element_type& landed_row_type();

}  // namespace sluice::lib
