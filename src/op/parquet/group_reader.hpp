// SPDX-License-Identifier: Apache-2.0
// Decodes the rows of one Parquet file in order, and builds elements of them.
//
//   status why = reader.fit(input.footer());                    // the columns, and whether they fit the rows' type
//   reader.begin(group, std::move(parts));                      // a decoder of a group
//   reader.decode();                                            // some rows, into Arrow's arrays; computes for long
//   reader.append(column, n);                                   // the next n of them, into a column
//   if (reader.begin_ahead()) …                                 // another thread calls decode_ahead() meanwhile
//
// Errors: of the functions that return a status; those of io/parquet_files.hpp and of sluice/arrow/columns.hpp.
// Thread: one caller at a time; decode() and begin() on threads for blocking calls. decode_ahead() runs at the same time
//         as pass() and append(), and the other functions are not called before it has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/held_memory.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib {

class group_reader final : private library_memory {
 public:
  /// `row`: of the elements. `memory`: for what decoding needs.
  group_reader(const element_type& row, std::unique_ptr<held_memory> memory) : row_(row), memory_(std::move(memory)) {}
  group_reader(const group_reader&) = delete;
  ~group_reader() { close(); }

  /// Finds the columns of the rows.
  status fit(std::shared_ptr<const parquet_file> file);
  const parquet_columns& columns() const { return columns_; }
  std::size_t groups() const { return file_->groups(); }
  std::uint64_t rows(std::size_t group) const { return file_->rows(group); }
  /// The number of rows in the groups before this one.
  std::uint64_t rows_before(std::size_t group) const;

  bool has_open() const { return rows_ != nullptr; }
  status begin(std::size_t group, std::vector<file_part> parts);
  /// Closes the group. No array of it exists afterwards.
  void close();
  /// The number of the next row of the group, and the number of those that are decoded.
  std::uint64_t next_row() const { return next_row_; }
  std::uint64_t decoded() const { return decoded_ - used_; }
  /// Decodes rows after those that were used; with has_ahead() it takes the ones that were decoded ahead, and is fast.
  /// REQUIRES: decoded() == 0, and not is_decoding_ahead().
  status decode();
  /// Returns true, and the caller must arrange a call of decode_ahead(), if the group has rows after the decoded ones,
  /// the reader was asked for as many rows before, and there is ample memory for them.
  bool begin_ahead();
  /// Decodes the rows after the decoded ones. Their error, if any, is the one of the next decode().
  void decode_ahead() noexcept;
  bool has_ahead() const { return has_ahead_; }
  bool is_decoding_ahead() const { return has_ahead_ && !is_ahead_done_.load(std::memory_order_acquire); }
  /// Skips n decoded rows.
  void pass(std::uint64_t n);
  /// Appends the next n decoded rows.
  status append(column& to, std::uint64_t n);
  status append(batch_storage& to, std::uint64_t n);
  /// The mean size of a row of the open group, as the footer states it; at least 1.
  std::uint64_t row_bytes() const { return row_bytes_; }

 private:
  bool grow(std::size_t bytes) noexcept override;
  void shrink(std::size_t bytes) noexcept override;
  void release();
  status decode_into(ArrowArray& to);
  ArrowArray part_of(std::uint64_t n) const;

  const element_type& row_;
  mutex memory_mutex_;  ///< decoding allocates on one thread while another one releases rows
  const std::unique_ptr<held_memory> memory_ ABSL_PT_GUARDED_BY(memory_mutex_);
  std::shared_ptr<const parquet_file> file_;
  parquet_columns columns_;
  std::vector<ArrowSchema*> fields_;  ///< of the columns
  ArrowSchema schema_{};              ///< borrows from the file's
  std::unique_ptr<parquet_rows> rows_;
  ArrowArray array_{};  ///< decoded rows
  std::uint64_t decoded_ = 0, used_ = 0;
  std::uint64_t next_row_ = 0, row_bytes_ = 1;
  std::uint64_t group_rows_ = 0, decodes_ = 0;  ///< of the open group
  std::size_t rows_at_once_ = 1;
  bool has_ahead_ = false;
  ArrowArray ahead_{};   ///< written by decode_ahead()
  status ahead_status_;  ///< the same
  // Release: the thread that reads it also sees the rows.
  std::atomic<bool> is_ahead_done_{false};
};

}  // namespace sluice::lib
