// SPDX-License-Identifier: Apache-2.0
// Decodes the rows of one Parquet file in order, and builds elements of them. The open group has the next rows; later
// groups may be read and decoded meanwhile, on other threads.
//
//   status why = reader.fit(input.footer());                    // the columns, and whether they fit the rows' type
//   reader.begin(group, std::move(parts));                      // opens a group
//   reader.current().decode();                                  // some rows, into Arrow's arrays; computes for long
//   reader.append(column, n);                                   // the next n of them, into a column
//   if (reader.begin_ahead()) …                                 // another thread calls current().decode_ahead() meanwhile
//   if (reader.add_ahead(group, bytes) && reader.begin_reading()) …   // a task reads the chunks of each next_to_read(), and
//                                                                     // has another thread call decode_first()
//   reader.end_group(group);                                    // has_open(): the group was read ahead; else begin() it
//
// Errors: of the functions that return a status; those of io/parquet_files.hpp and of sluice/arrow/columns.hpp.
// Thread: one caller at a time; decode() and begin() on threads for blocking calls. next_to_read() and decode_first() are
//         called by other threads at the same time as all others.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "op/parquet/open_group.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib {

/// The number of groups that are read ahead at most, whatever the number of workers.
inline constexpr std::size_t kGroupsAheadMax = 8;

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

  /// The group that has the next rows; it may be one that was read ahead.
  open_group& current() { return groups_[first_]; }
  const open_group& current() const { return groups_[first_]; }
  bool has_open() const { return current().is_begun(); }
  /// Returns true if the row of the open group is decoded, and is the next one.
  bool has_row(std::uint64_t row) const {
    return has_open() && current().decoded() != 0 && current().next_row() >= row;
  }
  status begin(std::size_t group, std::vector<file_part> parts);
  /// Closes all groups. REQUIRES: not is_decoding_ahead().
  void close();
  /// Closes the open group. The group `next` is open afterwards if it is read ahead.
  /// REQUIRES: not current().is_decoding_ahead(); the groups that are read ahead are not before `next`.
  void end_group(std::size_t next);
  /// Decodes rows of the open group.
  status decode();
  /// Returns true if decode() might succeed without what is decoded ahead, whose memory close() frees.
  bool works_ahead() const { return was_ahead_ || ahead_ != 0; }
  /// Returns true, and the caller must arrange a call of current().decode_ahead(), if the open group has rows after the
  /// decoded ones, the reader was asked for as many rows before, and there is ample memory for them.
  bool begin_ahead();
  /// Returns the number of parts into which the columns are divided for decode_part(), at most `workers`; 1: a call of
  /// decode() or decode_ahead() decodes all of them.
  std::size_t parts(std::size_t workers) const;

  /// The group after which another one may be read ahead, if at most `ahead` are: all rows of the open group are decoded,
  /// and the reader was asked for rows twice without a gap between them. Null: none may be.
  const open_group* last_before_next(std::size_t ahead) const;
  /// Adds `group`, whose chunks have `bytes`, to those that are read ahead. Returns false if there is no ample memory.
  /// REQUIRES: it is the next group after last_before_next() that has rows to read.
  bool add_ahead(std::size_t group, std::uint64_t bytes);
  /// Returns true, and the caller must arrange that next_to_read() is called until it returns null, if groups were added
  /// and no other caller does.
  bool begin_reading();
  /// Returns the next added group whose chunks must be read, for decode_first() or its fail_ahead().
  open_group* next_to_read();
  /// Opens a group that was read ahead, and decodes its first rows.
  void decode_first(open_group& g, std::vector<file_part> parts) noexcept;
  /// Returns true while another thread decodes.
  bool is_decoding_ahead() const;

  /// Skips n decoded rows.
  void pass(std::uint64_t n) { current().pass(n); }
  /// Appends the next n decoded rows.
  status append(column& to, std::uint64_t n);
  status append(batch_storage& to, std::uint64_t n);

 private:
  static constexpr std::size_t kGroups = kGroupsAheadMax + 1;

  bool grow(std::size_t bytes) noexcept override;
  void shrink(std::size_t bytes) noexcept override;
  /// The group that was added as the n-th after the open one.
  open_group& ahead(std::size_t n) { return groups_[(first_ + n) % kGroups]; }
  const open_group& ahead(std::size_t n) const { return groups_[(first_ + n) % kGroups]; }
  group_size size_of(std::size_t group, std::uint64_t chunk_bytes = 0);
  std::size_t unused_buffers() const;
  std::unique_ptr<parquet_rows> read(const group_size& size, std::vector<file_part> parts);
  /// Returns true if these rows, and chunks, are affordable besides the rows that may be decoded ahead.
  bool has_room_ahead(const group_size& more);

  const element_type& row_;
  mutex memory_mutex_;  ///< several threads decode, and release rows
  const std::unique_ptr<held_memory> memory_ ABSL_PT_GUARDED_BY(memory_mutex_);
  std::shared_ptr<const parquet_file> file_;
  parquet_columns columns_;
  std::vector<ArrowSchema*> fields_;  ///< of the columns
  ArrowSchema schema_{};              ///< borrows from the file's
  std::array<open_group, kGroups> groups_;
  std::size_t first_ = 0, ahead_ = 0;  ///< the open group, and the number of those after it
  std::uint64_t decodes_ = 0;          ///< since rows were skipped
  bool was_ahead_ = false;             ///< the last decode() took rows that were decoded ahead
  mutex unread_mutex_;
  std::vector<open_group*> unread_ ABSL_GUARDED_BY(unread_mutex_);  ///< added, and not read yet
  bool is_reading_ ABSL_GUARDED_BY(unread_mutex_) = false;          ///< a task calls next_to_read()
};

}  // namespace sluice::lib
