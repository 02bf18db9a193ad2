// SPDX-License-Identifier: Apache-2.0
// Rows that become one element: what the verbs share that take n of them, or as many as a rule says, and then make something
// of all (padded_batch, ragged_batch, sparse_batch, batch_by_bytes, batch_by_tokens).
//
//   rows_in_making part(in.type(), memory);
//   status fits = part.add(b, n, ordinal);
//   status why = part.make(maker, to, which);
//
//   return row_batches_loop(out, std::move(in), std::make_unique<maker>(…), 32, drop_remainder, run, gate);
//
// If bad elements are dropped, so is a row that does not fit: each row is compared with the first of its batch before
// it is accepted (docs/internals/decisions/dropped_elements.md).
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

/// Makes one element of rows. Thread: the stage's.
class rows_maker {
 public:
  rows_maker() = default;
  rows_maker(const rows_maker&) = delete;
  virtual ~rows_maker() = default;
  /// Builds the element of all of `rows` at uninitialised `to`; they are gone then. It is charged to `memory`, which has
  /// `made_bytes` more in the end; for a moment rows and element are charged both. Errors: a status, of the row `which`;
  /// nothing is built then.
  virtual status make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes, std::size_t& which) = 0;
  /// Are there rows that make() refuses?
  virtual bool may_refuse() const = 0;
  /// Ok, or why make() would refuse the row at `row` in an element whose first row is that at `first`; the first itself is given twice.
  virtual status check(const void* first, const void* row) const = 0;
};

/// Batches of the rows as they are.
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
/// Empties what rows are put into while a batch is made of them. Room of more than 64 KiB is given back: it is not charged.
void empty_scratch(slab& rows);
/// How many rows there are in batches of `size` elements of n's input.
cardinality rows_in_batches(const node& n, const count& size, bool drop_remainder);
/// The error of row `which` of a batch that begins at element `first`, or one that is of no element.
status row_error(const status& why, const std::string& label, std::uint64_t element);

/// The rows of the next element, as they come. All that `memory` has is theirs, and the element's that was made last.
class rows_in_making {
 public:
  rows_in_making(const element_type& row, held_memory& memory) : row_(row), memory_(memory), rows_(row) {}

  std::uint64_t size() const { return rows_.size(); }
  char* at(std::size_t i) const { return rows_.begin() + i * row_.size; }
  /// They, and what was made of those before, are gone.
  void forget() {
    rows_.clear();
    ordinals_.clear();
    memory_.shrink_by(memory_.bytes() - room_bytes());
  }
  /// The same, and their room.
  void give_back() {
    rows_.give_back();
    ordinals_.clear();
    memory_.shrink_by(memory_.bytes());
  }
  /// How many of the rows in front of `view` fit, and why the one behind them does not; ok: all do.
  std::uint32_t fitting(const rows_maker& maker, const element_view& view, status& bad) const;
  /// Takes the first n of `b`, the first of which is number `ordinal` of the input. Errors: resource_exhausted.
  status add(block& b, std::uint32_t n, std::uint64_t ordinal);
  /// The number of row i in the input. It is known until the rows are forgotten.
  std::uint64_t ordinal_of(std::size_t i) const;
  /// Builds the element of them at `to`; then there are none. Errors: as rows_maker::make.
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
  /// Row and ordinal, wherever elements between two rows were dropped, and of the first.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ordinals_;
};

/// An element of each `rows` rows; of fewer at the end, unless `drop_remainder`.
erased_stream row_batches_loop(outlet out, erased_stream in, std::unique_ptr<rows_maker> maker, std::uint64_t rows,
                               bool drop_remainder, std::shared_ptr<run_context> run, error_gate gate);

}  // namespace sluice::lib
