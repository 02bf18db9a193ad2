// SPDX-License-Identifier: Apache-2.0
// What the listings of a run have said of files that are still to be opened.
//
//   run.known->add(path, info);                                      // list_files, where its listing knew
//   std::optional<file_info> known = run.known->take(path);          // who opens the path, once
//
// Elements between list_files and a reader are paths, which a plan may shuffle, filter or change. So the table is the run's and
// goes by the path: whoever opens a path that a listing gave hands the info to file_system::open, which then need not ask.
// It is a hint. What is not kept, or taken already, is asked for when the file is opened, and an info that is no longer true is
// noticed there (input/byte_source.cpp). Of a path that is listed again the latest info is kept.
// Memory: of at most 65,536 files, charged to the ledger as read-ahead; no more are added while over half of the budget is used.
// The table knows as well which paths a listing gives next, and has what was opened of them before anybody asked
// (input/early_open.hpp).
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

/// What was opened of a file before its reader asks for it. This layer keeps it, and knows no more of it.
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
  /// A listing has given its names up to number `given`, and gives those from there on next.
  void given_up_to(std::weak_ptr<const std::vector<std::string>> names, std::size_t given);
  /// The paths to be opened early, as the listing gives them: where `path` is the last that it has given, else none. `waited`:
  /// the
  /// reader of `path` had to wait for it. After the first that had, two, and twice as many after each that had; after several in
  /// a row that had not, none.
  std::vector<std::string> coming_behind(std::string_view path, bool waited);
  /// False: there are enough, or it is there already.
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
