// SPDX-License-Identifier: Apache-2.0
// Opens a file on the calling thread if the kernel has the whole path in memory: openat2 with RESOLVE_CACHED (Linux
// 5.12).
//
//   std::int64_t fd = opener.open(path, flags);      // -EAGAIN: the open may have to wait; use the back end
//   opener.opened(path, fd);                         // after an open by the back end: remembers folders of local file systems
//
// Such an open takes two or three microseconds; a hop to the back end and back takes longer. Network file systems such
// as FUSE and NFS may block in spite of the flag, because they check each open, and would block a worker. The call is
// therefore tried only in folders of a disk or of memory in which the back end has opened a file before.
// Thread: any.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/container/flat_hash_set.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace sluice::lib::detail {

class cached_open {
 public:
  /// Returns a descriptor, or a negative errno; -EAGAIN if the back end must open the file.
  std::int64_t open(const std::string& path, int flags) noexcept;
  void opened(const std::string& path, int fd);

 private:
  /// The number of folders that are remembered. A file in another folder costs a hop.
  static constexpr std::size_t kFoldersMax = 1 << 12;

  // Relaxed: a hint. A thread that reads the old value makes one more failing call.
  std::atomic<bool> usable_{true};
  absl::Mutex mutex_;
  absl::flat_hash_set<std::uint64_t> local_ ABSL_GUARDED_BY(mutex_);  ///< hashes of folders
};

}  // namespace sluice::lib::detail
