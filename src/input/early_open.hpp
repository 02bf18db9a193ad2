// SPDX-License-Identifier: Apache-2.0
// Opens the files that come next, and reads their beginnings, before their readers request them.
//
//   if (auto early = co_await take_early(run, path, cache)) …          // a reader, before it opens the file itself
// a reader that has opened its file: the files after it
//
// A plan without parallelism has one file open at a time, and for small files only the next file can be read ahead. The
// run's listing knows that file (runtime/known_files.hpp), as long as no stage between it and the reader requests more
// from the listing. After a reader has waited for its file, the next two files are opened early, then four, up to
// sixteen. A reader whose files are all in memory opens none early. Early opening produces no elements and reports no
// errors: a file that fails is opened again by its reader.
// Memory: buffers are charged, and allocated while at most half of the budget is used.
// Owns:   the run owns the opened files that no reader has requested, up to known_files::kEarlyMax, until its end.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "ahead/ready_signal.hpp"
#include "runtime/known_files.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {

class site_record;

struct early_opened final : early_file {
  page_cache cache = page_cache::keep;
  std::shared_ptr<file> from;  ///< null: the file could not be opened
  buffer_ref head;
  std::size_t head_bytes = 0;  ///< in `head`, from the file's beginning on
  bool waited = false;         ///< its reader waited, because the opening was not done yet
  // Release: a thread that reads it also sees the rest.
  std::atomic<bool> done{false};

  /// Returns a signal that notifies when the opening is done, or null if it is done. The signal shares ownership of its
  /// run. The run owns this object, so this object has no share of the run.
  std::shared_ptr<ready_signal> ended() const {
    mutex_lock lock(mutex_);
    return ended_;
  }
  void will_end_by(std::shared_ptr<ready_signal> signal) {
    mutex_lock lock(mutex_);
    ended_ = std::move(signal);
  }

 private:
  mutable mutex mutex_;
  std::shared_ptr<ready_signal> ended_ ABSL_GUARDED_BY(mutex_);
};

/// How files are opened and read.
struct early_options {
  site_record* site = nullptr;  ///< of the reading stage. REQUIRES: not null
  page_cache cache = page_cache::keep;
  std::size_t read_bytes = 0;  ///< the most bytes to read from a file's beginning
  std::size_t head_bytes = 0;  ///< the number of bytes that may be read with the opening
};

/// Returns the file of that path if it was opened early with this `cache`, after waiting for it. Returns null if it
/// was not, or could not be opened.
task<std::shared_ptr<early_opened>> take_early(std::shared_ptr<run_context> run, std::string path, page_cache cache);

/// `waited`: the reader of `path` waited for its beginning.
void open_coming(std::shared_ptr<run_context> run, const std::string& path, const std::string& stage, early_options o,
                 bool waited);

}  // namespace sluice::lib
