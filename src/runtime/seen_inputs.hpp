// SPDX-License-Identifier: Apache-2.0
// The inputs that a run has read so far: its files, in their state when they were opened, and its lists of file names.
//
//   status changed = run.inputs->file_opened(path, epoch, identity);   // not ok: not what the checkpoint was made with
//   …
//   run.inputs->file_closed(path);
//
// The run has one table, and stages have none: a position may have been taken before a file was opened or a pattern
// listed, and be saved after it, so the knowledge of a stage at its position is not enough. Checkpoints contain the
// table beside the position (pipeline/seal.hpp), and a resumed run starts with it.
//
// Rules: If a file of the saved run is opened again, it must be in the state that the saved run saw last. A file that
//   changed during the saved run has several states in the table, each with the epochs (passes of `repeat`) that read
//   it: in one of these epochs the file must be in that epoch's state. Changes during a run are no error: each open
//   reads the current content. A file that the saved run never opened is not compared.
// Owns: entries for all open files, and for the last 1,000 that were closed or listed: 12 bytes and the size as a
//   varint each. A file that was closed before these is not compared either.
// Thread: any.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/status.hpp"

namespace sluice::lib {

/// The properties that distinguish one state of a file from another.
struct input_identity {
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  std::uint64_t device = 0;
};

class seen_inputs {
 public:
  static constexpr std::size_t kClosedKept = 1000;

  /// Records that a file has been opened in epoch `epoch`. Errors: failed_precondition, with the differences: the
  /// checkpoint's run saw another state.
  status file_opened(std::string_view path, std::uint64_t epoch, const input_identity& now);
  /// Called once for each file_opened.
  void file_closed(std::string_view path);
  /// Records the names that a pattern yielded. Errors: failed_precondition: the checkpoint's run saw other names.
  status listed(std::string_view pattern, std::uint64_t epoch, const std::vector<std::string>& names);

  /// Records an input that cannot be read again: from now on the run has no positions.
  void stream_opened(std::string_view path);
  /// Returns failed_precondition once a stream has been opened.
  status resumable() const;

  /// The table as bytes, for a checkpoint.
  std::string bytes() const;
  /// Starts with a checkpoint's table. Returns false if `bytes` is not a valid table. REQUIRES: no input has been
  /// opened.
  bool restore(std::string_view bytes);

 private:
  static constexpr std::size_t kVersionsKept = 4;  ///< of one file that changes repeatedly
  static constexpr std::size_t kEpochsKept = 4;    ///< for each version: a position spans two or three

  /// For a file: size, digests of time and of inode. For a listing: number of names, and two halves of a digest.
  struct state {
    std::uint64_t amount = 0;
    std::uint32_t change = 0, which = 0;  ///< 24 bits each
    friend bool operator==(const state&, const state&) = default;
  };
  struct version {
    state seen;
    std::vector<std::uint32_t> epochs;    ///< of this run, the latest kEpochsKept
    std::vector<std::uint32_t> saved_in;  ///< epochs of the checkpoint's run
  };
  struct entry {
    absl::InlinedVector<version, 1> versions;  ///< the latest is the last
    std::uint32_t open = 0;
    std::uint64_t closed_at = 0;  ///< its key in closed_, while no reader has the file open
    bool unconfirmed = false;     ///< from the checkpoint, and not opened since then
  };

  /// Records `now`. On failure, `before` is the state that the checkpoint's run saw instead.
  bool note(std::uint64_t key, std::uint64_t epoch, const state& now, state& before)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static const version* contradiction(const entry& e, std::uint32_t epoch, const state& now);
  void keep_open(entry& e) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void keep_closed(std::uint64_t key, entry& e) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::uint64_t, entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::uint64_t> closed_ ABSL_GUARDED_BY(mutex_);  ///< keys of entries_, the oldest first
  std::uint64_t clock_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string stream_ ABSL_GUARDED_BY(mutex_);
  mutable std::string bytes_ ABSL_GUARDED_BY(mutex_);  ///< a recent result: most positions see no new file
  mutable bool stale_ ABSL_GUARDED_BY(mutex_) = true;
};

}  // namespace sluice::lib
