// SPDX-License-Identifier: Apache-2.0
// One row group of a Parquet file while its rows are decoded: some rows at a time, and the rows after them in advance, on
// another thread.
//
//   group.begin(size, is_ahead);                // no rows yet
//   group.open(std::move(rows));                // the library's reader
//   group.decode(); … group.pass(n);            // the decoded rows, until they are used
//   group.begin_ahead();                        // another thread calls decode_ahead() or fail_ahead() meanwhile
//   group.decode();                             // takes the rows that were decoded in advance
//
// Thread: one caller at a time. decode_ahead(), fail_ahead(), decode_part(), and open() of a group that began ahead run at
//         the same time as pass() and part_of(), and the other functions are not called before they have ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "sluice/base/result.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib {

struct group_size {
  std::size_t group = 0;
  std::uint64_t rows = 0, row_bytes = 1;  ///< the mean size of a decoded row, as the footer states it; at least 1
  std::size_t rows_at_once = 1;           ///< that one call decodes
  std::uint64_t chunk_bytes = 0;          ///< of a group that is read ahead
  std::size_t buffers = 0;                ///< the number of the set of buffers for its chunks

  /// The expected size of the rows that one call decodes.
  std::uint64_t decoded_bytes() const { return row_bytes * (rows < rows_at_once ? rows : rows_at_once); }
};

class open_group {
 public:
  open_group() = default;
  open_group(const open_group&) = delete;
  ~open_group() { close(); }

  /// REQUIRES: !is_begun(). `is_ahead`: another thread calls open() and decode_ahead(), or fail_ahead().
  void begin(const group_size& size, bool is_ahead);
  void open(std::unique_ptr<parquet_rows> rows) { rows_ = std::move(rows); }
  /// REQUIRES: !is_decoding_ahead(). No array of its rows exists afterwards.
  void close();
  bool is_begun() const { return is_begun_; }
  const group_size& size() const { return size_; }

  /// The number of the next row of the group, and the number of those that are decoded.
  std::uint64_t next_row() const { return next_row_; }
  std::uint64_t decoded() const { return decoded_ - used_; }
  bool is_decoded() const { return !has_ahead_ && next_row_ + decoded() >= size_.rows; }
  /// Decodes rows after those that were used; with has_ahead() it takes the ones that were decoded ahead, and is fast.
  /// REQUIRES: decoded() == 0, and not is_decoding_ahead().
  status decode();
  /// Skips n decoded rows.
  void pass(std::uint64_t n);
  /// Returns the next n decoded rows, which the group continues to own.
  ArrowArray part_of(std::uint64_t n) const;

  void begin_ahead();
  /// Decodes the rows after the decoded ones. Their error, if any, is the one of the next decode().
  void decode_ahead() noexcept;
  /// Decoding ahead has failed: `why` is the error of the next decode().
  void fail_ahead(status why) noexcept { end_ahead(std::move(why)); }
  bool has_ahead() const { return has_ahead_; }
  bool is_decoding_ahead() const { return has_ahead_ && !is_ahead_done_.load(std::memory_order_acquire); }
  /// Decodes a part of the columns for the following decode() or decode_ahead(). Thread: different parts at the same time.
  void decode_part(std::size_t part, std::size_t parts) noexcept { rows_->decode(part, parts); }

 private:
  void release();
  void end_ahead(status why) noexcept;
  status decode_into(ArrowArray& to);

  bool is_begun_ = false;
  group_size size_;
  std::unique_ptr<parquet_rows> rows_;
  ArrowArray array_{};  ///< decoded rows
  std::uint64_t decoded_ = 0, used_ = 0, next_row_ = 0;
  bool has_ahead_ = false;  ///< the next rows are decoded ahead
  ArrowArray ahead_{};      ///< written by decode_ahead()
  status ahead_status_;     ///< the same, and by fail_ahead()
  // Release: the thread that reads it also sees the rows.
  std::atomic<bool> is_ahead_done_{false};
};

}  // namespace sluice::lib
