// SPDX-License-Identifier: Apache-2.0
// Decodes the rows of one Parquet file in order, and builds elements of them.
//
//   status why = reader.fit(input.footer());                    // the columns, and whether they fit the rows' type
//   reader.begin(group, std::move(parts));                      // a decoder of a group
//   reader.decode();                                            // some rows, into Arrow's arrays; computes for long
//   reader.append(column, n);                                   // the next n of them, into a column
//   if (reader.begin_ahead()) …                                 // another thread calls decode_ahead() meanwhile
//   else if (reader.begin_next(group, bytes)) …                 // the same, with the chunks of a later group: open_next()
//   reader.end_group(group);                                    // has_open(): the group was read ahead; else begin() it
//
// Errors: of the functions that return a status; those of io/parquet_files.hpp and of sluice/arrow/columns.hpp.
// Thread: one caller at a time; decode() and begin() on threads for blocking calls. decode_ahead(), open_next(), and
//         decode_part() run at the same time as pass() and append(), and the other functions are not called before they
//         have ended.
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

  bool has_open() const { return open_.rows != nullptr; }
  status begin(std::size_t group, std::vector<file_part> parts);
  /// Closes the open group, and the next one. No array of them exists afterwards.
  void close();
  /// Closes the open group. The group `next` is open afterwards if it was read ahead.
  /// REQUIRES: not is_decoding_ahead().
  void end_group(std::size_t next);
  /// Returns the error of reading the group ahead, once; ok: it was not read ahead.
  status take_failure(std::size_t group);
  /// The number of the next row of the group, and the number of those that are decoded.
  std::uint64_t next_row() const { return next_row_; }
  std::uint64_t decoded() const { return decoded_ - used_; }
  /// Decodes rows after those that were used; with has_ahead() it takes the ones that were decoded ahead, and is fast.
  /// REQUIRES: decoded() == 0, and not is_decoding_ahead().
  status decode();
  /// Returns true, and the caller must arrange a call of decode_ahead(), if the group has rows after the decoded ones,
  /// the reader was asked for as many rows before, and there is ample memory for them.
  bool begin_ahead();
  /// Decodes the rows after the decoded ones, or the first ones of the next group. Their error, if any, is the one of the
  /// next decode().
  void decode_ahead() noexcept;
  /// Returns the number of parts into which the columns are divided for decode_part(), at most `workers`; 1: a call of
  /// decode() or decode_ahead() decodes all of them.
  std::size_t parts(std::size_t workers) const;
  /// Decodes a part of the columns for the following decode() or decode_ahead(). Thread: different parts at the same time.
  void decode_part(std::size_t part, std::size_t parts) noexcept { decoding().rows->decode(part, parts); }
  /// Returns true if begin_next() may be called: all rows of the open group are decoded, no group was read ahead, and the
  /// reader was asked for rows twice without a gap between them.
  bool may_begin_next() const { return !has_ahead_ && decodes_ >= 2 && next_row_ + decoded() >= open_.size; }
  /// Returns true, and the caller must arrange that the chunks of `group`, which have `bytes`, are read, and a call of
  /// open_next() or fail_ahead(), if there is ample memory.
  bool begin_next(std::size_t group, std::uint64_t bytes);
  /// Opens the next group. Returns true, and the caller must arrange a call of decode_ahead(), if that is possible.
  bool open_next(std::vector<file_part> parts) noexcept;
  /// Working ahead has failed: `why` is the error of the next decode(), or the result of take_failure().
  void fail_ahead(status why) noexcept;
  bool has_ahead() const { return has_ahead_; }
  bool is_decoding_ahead() const { return has_ahead_ && !is_ahead_done_.load(std::memory_order_acquire); }
  /// Skips n decoded rows.
  void pass(std::uint64_t n);
  /// Appends the next n decoded rows.
  status append(column& to, std::uint64_t n);
  status append(batch_storage& to, std::uint64_t n);
  /// The mean size of a row of the open group, as the footer states it; at least 1.
  std::uint64_t row_bytes() const { return open_.row_bytes; }

 private:
  /// A group that is being decoded.
  struct opened {
    std::unique_ptr<parquet_rows> rows{};
    std::size_t group = 0, rows_at_once = 1;
    std::uint64_t size = 0, row_bytes = 1;  ///< in rows, and the mean size of one
  };
  bool grow(std::size_t bytes) noexcept override;
  void shrink(std::size_t bytes) noexcept override;
  /// The group whose rows are decoded next.
  const opened& decoding() const { return has_next_ ? next_ : open_; }
  opened open(std::size_t group, std::vector<file_part> parts);
  void release();
  void drop_ahead();
  void end_ahead(status why) noexcept;
  /// Returns true if `bytes` more are affordable besides the rows that may be decoded ahead.
  bool has_room_ahead(std::uint64_t bytes);
  status decode_into(const opened& from, ArrowArray& to);
  ArrowArray part_of(std::uint64_t n) const;

  const element_type& row_;
  mutex memory_mutex_;  ///< decoding allocates on one thread while another one releases rows
  const std::unique_ptr<held_memory> memory_ ABSL_PT_GUARDED_BY(memory_mutex_);
  std::shared_ptr<const parquet_file> file_;
  parquet_columns columns_;
  std::vector<ArrowSchema*> fields_;  ///< of the columns
  ArrowSchema schema_{};              ///< borrows from the file's
  opened open_, next_;                ///< `next_` is written while it is opened ahead
  ArrowArray array_{};                ///< decoded rows of `open_`
  std::uint64_t decoded_ = 0, used_ = 0;
  std::uint64_t next_row_ = 0;
  std::uint64_t decodes_ = 0;  ///< since rows were skipped
  bool has_ahead_ = false;     ///< rows of `open_` are decoded ahead, or `next_` is read
  bool has_next_ = false;      ///< the latter
  std::size_t next_group_ = 0;
  ArrowArray ahead_{};   ///< written by decode_ahead() and open_next()
  status ahead_status_;  ///< the same
  status failure_;       ///< of reading `next_group_`
  // Release: the thread that reads it also sees the rows.
  std::atomic<bool> is_ahead_done_{false};
};

}  // namespace sluice::lib
