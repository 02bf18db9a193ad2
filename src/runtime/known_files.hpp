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
// Thread: any.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_map.h>
#include <absl/synchronization/mutex.h>

#include <memory>
#include <optional>
#include <string_view>

#include "sluice/base/file_info.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib {

class known_files {
 public:
  static constexpr std::size_t kKept = std::size_t{1} << 16;

  explicit known_files(std::shared_ptr<memory_ledger> ledger);
  known_files(const known_files&) = delete;
  known_files& operator=(const known_files&) = delete;
  ~known_files();

  void add(std::string_view path, const file_info& info);
  std::optional<file_info> take(std::string_view path);

 private:
  static std::size_t bytes_of(const file_info& info);

  const std::shared_ptr<memory_ledger> ledger_;
  ledger_line& line_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::uint64_t, file_info> infos_ ABSL_GUARDED_BY(mutex_);  ///< by a hash of the path
};

}  // namespace sluice::lib
