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
//   reads the current content. A file that the saved run never opened is not compared. The properties that are compared
//   depend on the file's policy (sluice/runtime/input_rules.hpp). A file that is accepted although it is in another
//   state, such as a copy, is in the table in its new state afterwards.
// Moves: the table has a hash of each path. A path that is not in the table is looked up by the names that it had
//   before the run's moves, and before those of earlier runs, which the table contains too. Its entry then gets the new
//   path.
// Owns: entries for all open files, and for the last 1,000 that were closed or listed: 6 bytes for the path, 1 for
//   flags, the size as a varint, 8 for the time; with an ETag 6 more, under file_identity::content 8 more, under strict
//   inode and device as varints. A file that was closed before these is not compared either.
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

#include "runtime/input_state.hpp"
#include "sluice/base/status.hpp"
#include "sluice/runtime/input_rules.hpp"

namespace sluice::lib {

/// The rules of a run for its inputs.
struct input_rules {
  file_identity identity = file_identity::automatic;
  prefix_identities identities = {};
  path_rebases rebase = {};
  bool may_grow = false;

  /// Returns the policy for a file; never `automatic`.
  file_identity identity_of(std::string_view path) const;
};

/// An input in the table of a checkpoint, in the state in which it was read last.
struct seen_input {
  std::uint64_t key = 0;  ///< key_of() of its path or pattern, before the moves of the table
  input_state state;

  static std::uint64_t key_of(std::string_view name, bool is_listing);
};

class seen_inputs {
 public:
  static constexpr std::size_t kClosedKept = 1000;

  explicit seen_inputs(input_rules rules = {}) : rules_(std::move(rules)) {}

  /// Returns the sizes up to which the caller must digest the content of a file that it opens: those of the file itself
  /// and, for a file that may have grown, of its earlier states. Empty unless the file's policy is `content`.
  std::vector<std::uint64_t> digest_sizes(std::string_view path, std::uint64_t size_bytes) const;
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
  static constexpr std::size_t kMovesKept = 8;     ///< of runs before this one

  struct version {
    input_state seen;
    std::vector<std::uint32_t> epochs;    ///< of this run, the latest kEpochsKept
    std::vector<std::uint32_t> saved_in;  ///< epochs of the checkpoint's run
  };
  struct entry {
    absl::InlinedVector<version, 1> versions;  ///< the latest is the last
    std::uint32_t open = 0;
    std::uint64_t closed_at = 0;  ///< its key in closed_, while no reader has the file open
    bool unconfirmed = false;     ///< from the checkpoint, and not opened since then
  };

  friend std::vector<seen_input> inputs_in_table(std::string_view table);

  /// Calls visit(version&) for each state in which the checkpoint's run saw the input in this epoch.
  template <class F> static void for_each_saved(entry& e, std::uint32_t epoch, F visit);
  /// Records `now`, in which the input is the same as in all its saved states, or is accepted in spite of a difference.
  void note(entry& e, std::uint32_t epoch, const input_state& now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns the key of an input. `before`: receives the number of moves that its entry is behind, and the entry has
  /// this key afterwards.
  std::uint64_t keyed(std::string_view name, std::uint64_t kind, std::size_t& before)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const entry* find(std::string_view name, std::uint64_t kind, std::size_t& before) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::string name_before(std::string_view name, std::size_t moves) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool read_entry(position_reader& r, bool is_old) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void keep_open(entry& e) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void keep_closed(std::uint64_t key, entry& e) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const input_rules rules_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::uint64_t, entry> entries_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::uint64_t> closed_ ABSL_GUARDED_BY(mutex_);  ///< keys of entries_, the oldest first
  /// The moves of this run, then those of the runs before it, the latest first; for entries that are not opened yet.
  std::vector<path_rebases> moves_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t clock_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string stream_ ABSL_GUARDED_BY(mutex_);
  mutable std::string bytes_ ABSL_GUARDED_BY(mutex_);  ///< a recent result: most positions see no new file
  mutable bool stale_ ABSL_GUARDED_BY(mutex_) = true;
};

/// Returns the inputs of a valid table.
std::vector<seen_input> inputs_in_table(std::string_view table);
/// Returns true if the table of a checkpoint records this move: the checkpoint's run, or one before it, was resumed
/// with it.
bool records_move(std::string_view table, const path_rebase& move);

}  // namespace sluice::lib
