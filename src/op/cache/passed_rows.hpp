// SPDX-License-Identifier: Apache-2.0
// Rows on their way through a cache to the columns of its consumer (engine/batching/row_landing.hpp). An input that
// supports that appends its rows to these columns, from which they are copied to the cache, so no element is built. Rows
// that the consumer has not requested, which are made for the cache only, are appended to columns of the stage.
//
//   passed_rows rows(type, landing);                            // of the consumer
//   status why = input.open_rows(…, rows.landing_of_input());
//   rows.expect(first == wanted);                               // before each request
//   made_elements made = rows.received(view);                   // after it
//   status fits = rows.charge();
//   block receipts = rows.deliver(out, made, first);            // appends those from the index `first` on
//
// Thread: the stage's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/batching/row_landing.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/outlet.hpp"
#include "sluice/element/batched.hpp"
#include "store/element_cache.hpp"

namespace sluice::lib {

class passed_rows {
 public:
  /// The consumer receives elements.
  passed_rows() = default;
  /// `memory`: for the columns of the stage.
  passed_rows(const element_type& row, std::shared_ptr<row_landing> to, held_memory memory)
      : row_(&row),
        to_(std::move(to)),
        from_(std::make_shared<row_landing>()),
        memory_(std::make_unique<held_memory>(std::move(memory))) {}
  /// Returns true if the consumer receives rows.
  explicit operator bool() const { return to_ != nullptr; }

  /// Null if the consumer receives elements, or the input builds them.
  std::shared_ptr<row_landing>& landing_of_input() { return from_; }
  /// Prepares the columns for the rows of the next request. `are_wanted`: the consumer receives all of them.
  void expect(bool are_wanted);
  /// The elements of `view`, which the input has delivered.
  made_elements received(const block& view);
  /// Charges the columns of the stage. Errors: resource_exhausted.
  status charge() { return memory_ ? memory_->resize(built_.memory_bytes()) : status(); }
  /// Appends the elements from `first` on to the consumer's columns, unless they are there. Returns their receipts.
  /// REQUIRES: first == 0 if the consumer receives all of them.
  block deliver(outlet& out, const made_elements& made, std::size_t first);
  /// Appends elements of the cache, as element_cache::copy() does. Returns their receipts, empty without such elements.
  block deliver(outlet& out, const element_cache& from, std::uint64_t ordinal);

 private:
  static block receipts(outlet& out, std::size_t n, std::size_t bytes_each);

  const element_type* row_ = nullptr;
  std::shared_ptr<row_landing> to_, from_;
  std::unique_ptr<held_memory> memory_;
  batch_storage built_;            ///< the rows of the last request, if the consumer does not receive all of them
  std::size_t rows_before_ = 0;    ///< in the columns that the rows of the last request are appended to
  std::size_t memory_before_ = 0;  ///< of these columns
};

}  // namespace sluice::lib
