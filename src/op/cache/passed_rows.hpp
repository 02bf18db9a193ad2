// SPDX-License-Identifier: Apache-2.0
// Rows on their way through a cache to the columns of its consumer (engine/batching/row_landing.hpp). An input that
// supports that appends its rows to columns of the stage, from which they are copied to the cache and to the consumer, so
// no element is built.
//
//   passed_rows rows(type, landing);                            // of the consumer
//   status why = input.open_rows(…, rows.landing_of_input());
//   rows.expect();                                              // before each request
//   made_elements made = rows.received(view);                   // after it
//   block receipts = rows.deliver(out, made, first);            // appends those from the index `first` on
//
// Thread: the stage's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/batching/row_landing.hpp"
#include "sluice/coro/outlet.hpp"
#include "sluice/element/batched.hpp"
#include "store/element_cache.hpp"

namespace sluice::lib {

class passed_rows {
 public:
  /// The consumer receives elements.
  passed_rows() = default;
  passed_rows(const element_type& row, std::shared_ptr<row_landing> to)
      : row_(&row), to_(std::move(to)), from_(std::make_shared<row_landing>()) {}
  /// Returns true if the consumer receives rows.
  explicit operator bool() const { return to_ != nullptr; }

  /// Null if the consumer receives elements, or the input builds them.
  std::shared_ptr<row_landing>& landing_of_input() { return from_; }
  /// Prepares the columns for the rows of the next request.
  void expect();
  /// The elements of `view`, which the input has delivered.
  made_elements received(const block& view);
  /// Appends the elements from `first` on to the consumer's columns. Returns their receipts.
  block deliver(outlet& out, const made_elements& made, std::size_t first);
  /// Appends elements of the cache, as element_cache::copy() does. Returns their receipts, empty without such elements.
  block deliver(outlet& out, const element_cache& from, std::uint64_t ordinal);

 private:
  static block receipts(outlet& out, std::size_t n, std::size_t bytes_each);

  const element_type* row_ = nullptr;
  std::shared_ptr<row_landing> to_, from_;
  batch_storage built_;  ///< the rows of the last request
};

}  // namespace sluice::lib
