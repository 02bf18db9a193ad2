// SPDX-License-Identifier: Apache-2.0
// Opens a file on the calling thread where the kernel has the whole way to it in memory: openat2 with RESOLVE_CACHED (Linux
// 5.12).
//
//   std::int64_t fd = opener.open(path, flags);      // -EAGAIN: that may have to wait; ask the back end
//   opener.opened(path, fd);                         // by the back end: the folder is one of a local file system, or not
//
// Such an open takes two or three microseconds, a hop to the back end and back more. It may block all the same where the file
// system
// is asked for each open, as FUSE and NFS are, which then keeps a worker. So it is tried only in folders in which a file has
// been opened before, by the back end, that is on a disk or in memory.
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
  /// A descriptor, or a negative errno; -EAGAIN where it has to be left to the back end.
  std::int64_t open(const std::string& path, int flags) noexcept;
  void opened(const std::string& path, int fd);

 private:
  /// The number of folders that are remembered. A file in another folder costs a hop.
  static constexpr std::size_t kFoldersMax = 1 << 12;

  // Relaxed: a hint; a thread that sees it late makes one more call in vain.
  std::atomic<bool> usable_{true};
  absl::Mutex mutex_;
  absl::flat_hash_set<std::uint64_t> local_ ABSL_GUARDED_BY(mutex_);  ///< hashes of folders
};

}  // namespace sluice::lib::detail
