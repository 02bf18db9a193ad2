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
//
// A stage that works ahead cannot append to the columns of its consumer. Its tasks build rows in columns of their own,
// which begin and end where the consumer's batches do if the blocks allow it. The consumer then adopts these columns as
// its batch; it copies rows of columns that belong to several batches.
//
// A consumer that only reads the rows, such as group_by, uses a column_input (engine/batching/column_input.hpp).
// Thread: as the stream's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/element/batched.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

struct row_landing {
  column* rows = nullptr;
  /// The consumer only reads the rows, so that the stage may lend rows of its own columns instead of appending them.
  bool may_lend = false;
  /// Set by the stage with each request: the delivered rows are those of this column, from `lent_first` on, until the next
  /// request. Null: they were appended.
  const column* lent = nullptr;
  std::size_t lent_first = 0;
  /// The most rows that may land with the next request, because their memory is charged afterwards.
  std::uint64_t at_once = 1;
  /// The consumer's batches have this number of rows.
  std::uint64_t rows_of_batch = 1;
  /// Set by the stage when it is opened: it works ahead, and its elements are `built_row`s instead of `landed_row`s.
  bool is_ahead = false;
};

/// The receipt of one appended row.
struct landed_row {
  std::uint32_t bytes;  ///< its approximate size, from its footprint
};
const element_type& landed_row_type();
/// Constructs the receipts of n rows of `bytes` each at uninitialized `to`.
void make_landed(std::uint64_t bytes, std::size_t n, char* to);

/// The receipt of one row that was built ahead.
struct built_row {
  static constexpr bool trivially_relocatable = true;
  static void sluice_destroy(built_row* rows, std::size_t n);
  static std::size_t sluice_footprint(const built_row* rows, std::size_t n);

  built_row(batch_storage* p, std::uint32_t r, std::uint32_t b, bool last) : part(p), row(r), bytes(b), owns(last) {}
  built_row(built_row&& o) noexcept : part(o.part), row(o.row), bytes(o.bytes), owns(o.owns) { o.owns = false; }
  built_row& operator=(built_row&&) = delete;
  ~built_row() {
    if (owns) delete part;
  }

  batch_storage* part;  ///< the columns that have the row; null: it was appended to the columns of the consumer
  std::uint32_t row;    ///< its number in them
  std::uint32_t bytes;  ///< its share of their memory
  bool owns;            ///< it is the last row of `part`, and owns it. Receipts are destroyed in their order.
};

/// Constructs the receipts of the rows of `part`, which are its owners then, at uninitialized `to`. REQUIRES: it has
/// rows.
void make_receipts(std::unique_ptr<batch_storage> part, built_row* to);

}  // namespace sluice::lib
