// SPDX-License-Identifier: Apache-2.0
// A batch that receives its rows a few at a time, directly in its columns.
//
//   batch_in_making part(row, 1000);                              // of at most 1000 rows
//   status fits = charge_growth(memory, part, 0, b, n, ordinal);  // before the first of them is moved
//   if (fits.ok()) part.append(b, n);
//   if (part.missing() == 0) … part.take() …
//
// Thread: none; it belongs to its stage.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "runtime/held_memory.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib {

/// A batch that is being filled, and its memory. After a resume its rows are fetched again.
class batch_in_making {
 public:
  /// Memory is reserved for at most this number of rows until a second batch is built, because the input may have fewer
  /// rows than the batch wants.
  static constexpr std::uint64_t kRowsReserved = 16 << 10;

  batch_in_making(const element_type& row, std::uint64_t rows) : row_(row), rows_(rows) {}

  std::uint64_t rows() const { return static_cast<std::uint64_t>(part_.rows()); }
  std::uint64_t missing() const { return rows_ - rows(); }
  std::size_t bytes() const { return part_.memory_bytes(); }
  /// Returns the columns, for stages that append rows themselves. Reserves room for the expected rows unless `thrifty`.
  column& columns(bool thrifty) {
    const bool fresh = !part_.has_column();
    column& rows = part_.make_rows(row_);
    if (fresh && !thrifty) rows.reserve(std::min(rows_, kRowsReserved));
    return rows;
  }
  /// Returns the number of bytes that the columns will allocate for n more rows, before the first of them is moved;
  /// `thrifty`: for these rows only. Growing copies the present rows: both copies exist for that time.
  std::size_t growth(const block& from, std::uint32_t n, bool thrifty) {
    std::uint64_t room = rows_ <= kRowsReserved ? rows_ : std::max({rows() + n, room_ * 2, kRowsReserved});
    if (rows_ <= kRowsReserved || rows() + n > room_) room_ = std::min(rows_, room);
    return part_.make_rows(row_).growth(from.data(), n, row_.size, room_, thrifty);
  }
  /// REQUIRES: growth() of the same rows came before.
  void append(block& from, std::uint32_t n) {
    part_.make_rows(row_).append(from.data(), n, row_.size);
    from.forget_front(n);
  }
  /// Moves rows that were built ahead: those at the front of `from` that belong to one of its parts, as many as are
  /// missing. A part that is a whole batch becomes this one. Errors: throws those of column.
  void append_built(block& from);
  batch_storage take() {
    room_ = 0;
    return std::exchange(part_, batch_storage());
  }

 private:
  const element_type& row_;
  const std::uint64_t rows_;
  batch_storage part_;
  std::uint64_t room_ = 0;  ///< rows it has room for
};

/// Charges the memory that the columns will allocate for n more rows. Errors: resource_exhausted: the budget lacks even
/// the least that they need, and nothing is charged. invalid_argument: a tensor does not stack on the rows before it;
/// the error has its ordinal, computed from that of the first row, `first`. The error is returned as a status, so that
/// whole batches before it are delivered.
status charge_growth(held_memory& memory, batch_in_making& part, std::size_t made_bytes, const block& from,
                     std::uint32_t n, std::uint64_t first);

}  // namespace sluice::lib
