// SPDX-License-Identifier: Apache-2.0
// File information from the listings of a run, for files that are still to be opened.
//
//   run.known->add(path, info);                                      // list_files, if its listing includes the info
//   std::optional<file_info> known = run.known->take(path);          // by the reader of the path, once
//
// Elements between list_files and a reader are paths, which a plan may shuffle, filter or change. So the table belongs
// to the run and its key is the path. A reader that opens a listed path passes the info to file_system::open, which
// then need not request it. The info is only a hint. If it was not retained, or was taken already, opening the file
// requests it again. If it is no longer true, input/byte_source.cpp detects that. If a path is listed again, the table
// retains the latest info.
// The table also knows which paths a listing returns next, and stores the files that were opened early
// (input/early_open.hpp).
// Memory: the infos of at most 65,536 files, charged to the ledger as read-ahead. The table adds no more while over
//         half of the budget is used.
// Thread: any.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/synchronization/mutex.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/file_info.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

/// A file that was opened before its reader requests it. This layer only stores it.
class early_file {
 public:
  virtual ~early_file() = default;
};

class known_files {
 public:
  static constexpr std::size_t kKept = std::size_t{1} << 16;

  explicit known_files(std::shared_ptr<memory_ledger> ledger);
  known_files(const known_files&) = delete;
  known_files& operator=(const known_files&) = delete;
  ~known_files();

  void add(std::string_view path, const file_info& info);
  std::optional<file_info> take(std::string_view path);

  static constexpr std::size_t kEarlyMax = 16;
  /// Records that a listing has returned its names up to number `given` and returns the next ones from there.
  void given_up_to(std::weak_ptr<const std::vector<std::string>> names, std::size_t given);
  /// Returns the paths to open early, in the order of the listing, if `path` is the last one that the listing returned;
  /// otherwise none. `waited`: the reader of `path` waited for it. The first wait sets the number of paths to two, and
  /// each further wait doubles it. After many consecutive files without a wait the number is 0.
  std::vector<std::string> coming_behind(std::string_view path, bool waited);
  /// Returns false if enough files are open early, or this one already is.
  bool put_early(std::string_view path, std::shared_ptr<early_file> opened);
  std::shared_ptr<early_file> take_early(std::string_view path);

 private:
  static std::size_t bytes_of(const file_info& info);

  const std::shared_ptr<memory_ledger> ledger_;
  ledger_line& line_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::uint64_t, file_info> infos_ ABSL_GUARDED_BY(mutex_);  ///< by a hash of the path
  std::weak_ptr<const std::vector<std::string>> names_ ABSL_GUARDED_BY(mutex_);
  std::size_t given_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t early_wanted_ ABSL_GUARDED_BY(mutex_) = 0;
  int without_wait_ ABSL_GUARDED_BY(mutex_) = 0;  ///< files in a row
  absl::flat_hash_map<std::uint64_t, std::shared_ptr<early_file>> early_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
