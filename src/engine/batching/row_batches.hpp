// SPDX-License-Identifier: Apache-2.0
// The loop of verbs that collect n rows, or as many as a rule allows, and then build one element from them:
// padded_batch, ragged_batch, sparse_batch, batch_by_bytes, batch_by_tokens.
//
//   rows_in_making part(in.type(), memory);
//   status fits = part.add(b, n, ordinal);
//   status why = part.make(maker, to, which);
//
//   return row_batches_loop(out, std::move(in), std::make_unique<maker>(…), 32, drop_remainder, run, gate);
//
// If the stage drops bad elements, it also drops a row that does not fit. Each row is compared with the first of its
// batch before it is accepted (docs/internals/decisions/dropped_elements.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "element/tensors/row_fit.hpp"
#include "engine/lowering/error_gate.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Builds one element from rows. Thread: the stage's.
class rows_maker {
 public:
  rows_maker() = default;
  rows_maker(const rows_maker&) = delete;
  virtual ~rows_maker() = default;
  /// Builds the element of all `rows`, which are consumed, at uninitialised `to`. The element is charged to `memory`;
  /// `made_bytes` grows by its size. For a moment rows and element are both charged. Returns an error of row `which`;
  /// nothing is built in this case.
  virtual status make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes, std::size_t& which) = 0;
  /// Returns true if make() may refuse a row.
  virtual bool may_refuse() const = 0;
  /// Returns why make() would refuse `row` in an element whose first row is `first`, or ok. For the first row both
  /// arguments are equal.
  virtual status check(const void* first, const void* row) const = 0;
};

/// Builds batches of the rows without changing them.
class batch_maker final : public rows_maker {
 public:
  explicit batch_maker(const element_type& row) : fit_(row_fit::stacked(row)) {}
  status make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes, std::size_t& which) override;
  bool may_refuse() const override { return fit_.may_refuse(); }
  status check(const void* first, const void* row) const override { return fit_.check(first, row); }

 private:
  const row_fit fit_;
};

/// Returns the type of a batch of rows that are not stacked, as `batch` defines it.
const element_type* type_of_batch(const element_type& row, std::string& why);
/// Destroys rows that were collected for a batch. Frees memory of more than 64 KiB, because it is not charged.
void empty_scratch(slab& rows);
/// Returns the number of rows in batches of `size` elements of n's input.
cardinality rows_in_batches(const node& n, const count& size, bool drop_remainder);
/// Returns the number of batches of n's input if their sizes are not known before: none of none, infinitely many of
/// infinitely many elements.
cardinality batches_of_any_size(const node& n);
/// Returns the error of row `which` of a batch that begins at element `first`, or an error that concerns no single
/// element.
status row_error(const status& why, const std::string& label, std::uint64_t element);

/// The rows collected for the next element. Everything charged to `memory` belongs to them and to the element that was
/// built last.
class rows_in_making {
 public:
  rows_in_making(const element_type& row, held_memory& memory) : row_(row), memory_(memory), rows_(row) {}

  std::uint64_t size() const { return rows_.size(); }
  char* at(std::size_t i) const { return rows_.begin() + i * row_.size; }
  /// Releases the rows and the elements built before.
  void forget() {
    rows_.clear();
    ordinals_.clear();
    memory_.shrink_by(memory_.bytes() - room_bytes());
  }
  /// Releases them and the slab.
  void give_back() {
    rows_.give_back();
    ordinals_.clear();
    memory_.shrink_by(memory_.bytes());
  }
  /// Returns how many rows at the front of `view` fit, and in `bad` why the next one does not. Ok: all fit.
  std::uint32_t fitting(const rows_maker& maker, const element_view& view, status& bad) const;
  /// Moves the first n rows of `b`. `ordinal`: the input ordinal of the first. Errors: resource_exhausted.
  status add(block& b, std::uint32_t n, std::uint64_t ordinal);
  /// Returns the input ordinal of row i. It is known until the rows are released.
  std::uint64_t ordinal_of(std::size_t i) const;
  /// Builds their element at `to` and consumes them. Errors: as rows_maker::make.
  status make(rows_maker& maker, void* to, std::size_t& which) {
    memory_.shrink_by(memory_.bytes() - room_bytes());
    std::size_t made_bytes = 0;
    return maker.make(rows_, memory_, to, made_bytes, which);
  }

 private:
  std::size_t room_bytes() const { return rows_.capacity() * row_.size; }

  const element_type& row_;
  held_memory& memory_;
  slab rows_;
  /// A row's index and ordinal: of the first row, and of each row after dropped elements.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ordinals_;
};

/// Yields an element for each `rows` rows. The last one may have fewer, unless `drop_remainder`.
erased_stream row_batches_loop(outlet out, erased_stream in, std::unique_ptr<rows_maker> maker, std::uint64_t rows,
                               bool drop_remainder, std::shared_ptr<run_context> run, error_gate gate);

}  // namespace sluice::lib
