// SPDX-License-Identifier: Apache-2.0
// A path that only one process at a time writes to, through a file beside it that takes its name when it is complete.
//
//   locked_target out;
//   status why = out.take("copy.tfrecord");      // no other process writes copy.tfrecord from now on
//   int fd = -1;
//   if (why.ok()) why = out.create(fd);          // copy.tfrecord.partial, new, with the mode of what it will replace
//   … write to fd, sync_file(fd) …
//   if (why.ok()) why = out.publish();           // it is copy.tfrecord now, also after a power cut
//
// The lock is `.NAME.lock` in the same folder: a file that contains the writer's process id, with a flock on it, which
// ends with the process. A later process that takes the lock finds the lock file and the partial file of a dead writer;
// create() removes the partial file. Links are followed to the file that they refer to. For the lock and the partial
// file themselves links are never followed: a link that another user has placed there is an error or is removed, and
// its target is not touched. A target that is not a regular file (a pipe, a device) has no lock and no file beside it.
// A target with the name of a partial file, `NAME.partial`, takes the lock of NAME as well: another process may be
// writing NAME there.
//
// Errors: those of the file system, with the path; unavailable: another process writes to the path, with its process
//   id; failed_precondition: the file in the lock's place is not a lock file. File systems without flock (ENOSYS,
//   EOPNOTSUPP, ENOLCK) are used without protection against a second writer.
// Thread: one caller; it blocks. Two locked_targets of one process exclude each other as those of two processes do. A
//   process that forks must exec: its children share the lock.
#pragma once

#include <filesystem>
#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib {

/// Returns the path of the lock file for a target; links are not followed.
std::string lock_beside(const std::string& target);

class locked_target {
 public:
  locked_target() = default;
  locked_target(const locked_target&) = delete;
  locked_target& operator=(const locked_target&) = delete;
  ~locked_target() { release(); }

  /// Finds the file that take(path) locks, with links resolved. The path is absolute if the file exists.
  static status resolve(const std::string& path, std::string& target);
  status take(std::string path);
  /// Releases the lock and removes its file.
  void release() noexcept;

  /// False for a pipe or a device, which is written to directly.
  bool is_regular() const { return is_regular_; }
  const std::string& target() const { return target_; }    ///< the real path of the file, with links resolved
  const std::string& partial() const { return partial_; }  ///< the file beside it

  /// Creates the partial file again and opens it for reading and writing.
  status create(int& fd);
  /// Opens a target that is not a regular file for writing.
  status open_as_it_is(int& fd);
  /// Renames the partial file to the target. REQUIRES: the caller has synchronized its bytes.
  status publish();
  /// Renames the target back to the partial file, durably: its writer adds to it.
  status withdraw();
  /// Makes the partial file's name durable: it survives a power cut from now on.
  status sync_names();
  /// Removes the partial file if it exists.
  void discard() noexcept;

  /// Returns the status for errno, with the path.
  status failed(const char* what) const;

 private:
  /// One lock file, and the flock on it; -1: not locked.
  struct lock_file {
    std::string path;
    int fd = -1;
    bool is_still_named() const;
    void release() noexcept;
  };
  status hold(lock_file& lock);
  status holder_of(const lock_file& lock) const;
  std::string path_;  ///< as passed to take()
  std::string target_, partial_, folder_;
  bool is_regular_ = true;
  lock_file lock_;
  lock_file whole_lock_;  ///< of NAME, if the target is NAME.partial
};

}  // namespace sluice::lib
