// SPDX-License-Identifier: Apache-2.0
// Reads one file from its beginning to its end, several ranges of it at the same time.
//
// Bytes that are in the page cache are read directly into the caller's buffer. The first read that must wait starts
// reads of the ranges after it, into separate buffers: one more, then two, four, as long as reads must wait, up to
// `ranges_max`. After several consecutive ranges that needed no waiting, no range is started ahead until a read waits
// again.
// Order:  bytes are delivered in the order of the file, whichever read finishes first. Ranges that the caller skips are
//         discarded.
// Memory: ranges ahead are charged to the ledger, and started only while at most half of the budget is used.
// Errors: those of file::read_at for the range that is requested; the error of a range further ahead is reported when
//         that is requested.
// Owns:   a share of the file and of the reads in flight; reads that are outstanding when it is destroyed end by
//         themselves.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "ahead/ready_signal.hpp"
#include "input/input_memory.hpp"
#include "runtime/live_knob.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/coro/stage_counts.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {

/// Adds the requests of a file that have begun to answer since the last call.
void add_requests(stage_counts& to, file& from);

struct read_ahead_options {
  const live_knob* ranges_max = nullptr;      ///< in flight at once, including the one that a caller waits for; null: 1
  std::int64_t untouched = 0;                 ///< the value of `ranges_max` until it is set
  std::uint32_t ranges_if_untouched = 0;      ///< replaces `untouched`, if larger
  wait_reason waits_for = wait_reason::disk;  ///< what a read waits for
  stage_counts* counts = nullptr;             ///< of the stage that reads; null: reads are not counted
  bool waits_long = false;                    ///< waits are long enough to prepare buffers meanwhile
  std::size_t range_bytes = 256 << 10;        ///< of the first range ahead
  std::size_t range_bytes_max =
      0;  ///< of any range: each is twice as long as the one before; 0: all are as long as the first
  std::uint32_t ahead_at_once = 1;  ///< the first read that waits starts this number of reads
};

class range_reader {
 public:
  range_reader(std::shared_ptr<run_context> run, std::shared_ptr<file> from, input_memory& memory,
               read_ahead_options o);
  range_reader(const range_reader&) = delete;
  range_reader& operator=(const range_reader&) = delete;

  /// The same as file::try_read_at; may return fewer bytes than exist.
  ready_read try_read_at(std::uint64_t offset, char* to, std::size_t n);
  /// The same as file::read_at; may return fewer bytes than exist, but none only at the end.
  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n);
  /// Discards the ranges that were read ahead.
  void drop() { ahead_.clear(); }
  /// The file was requested at this time. The first read that must wait counts the time until its end.
  void first_byte_since(time_point t) { opening_since_ = t; }

 private:
  std::uint32_t ranges_max() const;
  struct range;
  static class run_task fetch(std::shared_ptr<run_context>& run, std::shared_ptr<file> from, std::shared_ptr<range> r,
                              std::shared_ptr<ready_signal> done, read_ahead_options how);
  /// Reads from the file itself, for the stage that waits.
  task<std::size_t> read_now(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n);
  /// Discards the ranges before `offset`. Returns the range that contains `offset`, or null.
  range* find(std::uint64_t offset);
  std::size_t copy(range& r, std::uint64_t offset, char* to, std::size_t n);
  /// The deadline of a read that is waited for. Reads of streams have none, since their writers take any time.
  time_point deadline() const { return from_->info().is_stream ? kNever : io_deadline(*run_); }
  void start_behind(std::uint64_t offset);
  bool start(std::uint64_t offset);
  /// Raises the number of ranges wanted ahead after another read that waited.
  void want_more(std::uint32_t most);

  std::shared_ptr<run_context> run_;
  std::shared_ptr<file> from_;
  input_memory& memory_;
  const read_ahead_options options_;
  std::uint32_t wanted_ = 0;  ///< ranges ahead: 0 as long as no read must wait
  std::size_t next_bytes_;    ///< of the next range that is started
  std::uint32_t ready_in_a_row_ = 0;
  std::deque<std::shared_ptr<range>> ahead_;  ///< in the file's order, without gaps
  time_point opening_since_ = kNever;         ///< until the first read that waits; kNever: it has happened
  buffer_ref spare_;                          ///< the buffer of a range that has been read, for the next range
  std::shared_ptr<ready_signal> done_;        ///< notifies when a range has ended
};

}  // namespace sluice::lib
