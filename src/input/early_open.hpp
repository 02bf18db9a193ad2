// SPDX-License-Identifier: Apache-2.0
// Opens the files that come next, and reads their beginnings, before their readers ask for them.
//
//   if (auto early = co_await take_early(run, path, cache)) …          // a reader, before it opens the file itself
//   open_coming(run, path, stage, how, waited);                        // one that has opened its file: those behind it
//
// A plan without parallelism has one file open after the other, and of a small one nothing can be read ahead but the next one.
// Which
// that is the run's listing knows (runtime/known_files.hpp), as long as nothing between it and the reader asks it for more. So a
// reader that had to wait for its file has the next two opened, then four, up to sixteen; one whose files are all in memory has
// none. No element is made for it, and no error counts: what fails is opened once more by who wants it.
// Memory: buffers are charged, and made while at most half of the budget is used.
// Owns:   the run has what was opened and not asked for, up to known_files::kEarlyMax files, until its end.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "ahead/ready_signal.hpp"
#include "runtime/known_files.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {

struct early_opened final : early_file {
  page_cache cache = page_cache::keep;
  std::shared_ptr<file> from;  ///< null: it could not be opened
  buffer_ref head;
  std::size_t head_bytes = 0;  ///< in `head`, from the file's beginning on
  bool waited = false;         ///< its reader did, because it was not done yet
  // Release: who sees it sees the rest.
  std::atomic<bool> done{false};

  /// Notifies when it is done; null: it is. A signal has a share of its run, and the run, which has this, none of itself.
  std::shared_ptr<ready_signal> ended() const {
    std::lock_guard lock(mutex_);
    return ended_;
  }
  void will_end_by(std::shared_ptr<ready_signal> signal) {
    std::lock_guard lock(mutex_);
    ended_ = std::move(signal);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<ready_signal> ended_;  ///< guarded by mutex_
};

/// How files are opened and read.
struct early_options {
  page_cache cache = page_cache::keep;
  std::size_t read_bytes = 0;  ///< of a file's beginning, at most
  std::size_t head_bytes = 0;  ///< that may be read with the opening
};

/// The file of that path, if it was opened early, and so; it is waited for. Null: it was not, or could not be opened.
task<std::shared_ptr<early_opened>> take_early(std::shared_ptr<run_context> run, std::string path, page_cache cache);

/// `waited`: the reader of `path` had to wait for its beginning.
void open_coming(std::shared_ptr<run_context> run, const std::string& path, const std::string& stage, early_options o,
                 bool waited);

}  // namespace sluice::lib
