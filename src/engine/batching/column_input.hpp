// SPDX-License-Identifier: Apache-2.0
// An input whose rows are read from columns, and are not built as elements.
//
//   column_input columns(*n.inputs[0]->type);
//   erased_stream in = context.open_rows(n.inputs[0], columns.landing());  // empty: the input builds elements
//   columns.before_request(in);
//   auto b = co_await in.next_block(d);                                    // receipts (engine/batching/row_landing.hpp)
//   column_view rows = columns.rows(b.data(), in.left() + b.size(), b.size());
//
// Owns:   rows that the input appends, about 256 KiB of them. Rows that it lends stay its own.
// Thread: as the stream's.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/batching/row_landing.hpp"
#include "expr/column_parts.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {

class column_input {
 public:
  explicit column_input(const element_type& row);
  const std::shared_ptr<row_landing>& landing() const { return landing_; }

  /// Forgets the rows of the last view, if none of them is left.
  void before_request(const erased_stream& in);
  /// Returns the next n rows of the view. `receipts`: that of the first of them. `left`: the rows of the view that are not
  /// consumed yet, with these n. REQUIRES: 0 < n <= left.
  column_view rows(const char* receipts, std::uint32_t left, std::uint32_t n);
  /// Builds these rows as elements, until the next call. Errors: exceptions of copies.
  block built(const column_view& rows);

 private:
  const element_type& row_;
  std::shared_ptr<row_landing> landing_;
  batch_storage appended_;
  std::uint32_t of_view_ = 0;  ///< the rows of the view; 0: not known yet
  slab built_;
};

}  // namespace sluice::lib
