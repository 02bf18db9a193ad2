// SPDX-License-Identifier: Apache-2.0
// A path that one process at a time writes to, through a file beside it that takes its name when it is whole.
//
//   locked_target out;
//   status why = out.take("copy.tfrecord");      // nobody else writes copy.tfrecord from now on
//   int fd = -1;
//   if (why.ok()) why = out.create(fd);          // copy.tfrecord.partial, new, with the mode of what it will replace
//   … write to fd, sync_file(fd) …
//   if (why.ok()) why = out.publish();           // it is copy.tfrecord now, also after a power cut
//
// The lock is `.NAME.lock` in the same folder: a file that holds the writer's process id and a flock on it, which dies
// with the process. Whoever takes the lock finds what a dead writer left: its lock and its partial file, which create()
// removes. Links are followed to the file they name; the lock and the partial file themselves are never followed, so a
// link that somebody planted there is an error or is removed, and what it names is not touched.
// What is no regular file (a pipe, a device) has no lock and no file beside it. A target with the name of a partial file,
// `NAME.partial`, takes the lock of NAME as well: another process may be writing NAME there.
//
// Errors: those of the file system, naming the path; unavailable: another process writes to it, naming the process;
//   failed_precondition: what stands at the lock's place is not ours. File systems without flock (ENOSYS, EOPNOTSUPP,
//   ENOLCK) are taken without protection against a second writer.
// Thread: one caller; it blocks. Two locked_targets of one process exclude each other as those of two processes do. A
//   process that forks must exec: its children share the lock.
#pragma once

#include <filesystem>
#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib {

/// The lock file of a target, links not followed.
std::string lock_beside(const std::string& target);

class locked_target {
 public:
  locked_target() = default;
  locked_target(const locked_target&) = delete;
  locked_target& operator=(const locked_target&) = delete;
  ~locked_target() { release(); }

  status take(std::string path);
  /// Gives the lock back and removes its file.
  void release() noexcept;

  /// False: a pipe or a device, to be written to as it stands.
  bool is_regular() const { return is_regular_; }
  const std::string& target() const { return target_; }    ///< where the file really is
  const std::string& partial() const { return partial_; }  ///< the file beside it

  /// Creates the partial file again and opens it for reading and writing.
  status create(int& fd);
  /// Opens what is no regular file for writing.
  status open_as_it_is(int& fd);
  /// The partial file takes the name of the target. The caller has synchronised its bytes.
  status publish();
  /// The partial file's name survives a power cut from now on.
  status sync_names();
  /// Removes the partial file, if there is one.
  void discard() noexcept;

  /// The status of errno, naming the path.
  status failed(const char* what) const;

 private:
  status follow_links(std::filesystem::path& named) const;
  /// One lock file, and the flock on it; -1: it is not held.
  struct lock_file {
    std::string path;
    int fd = -1;
    bool is_still_named() const;
    void release() noexcept;
  };
  status hold(lock_file& lock);
  status holder_of(const lock_file& lock) const;
  std::string path_;  ///< as it was asked for
  std::string target_, partial_, folder_;
  bool is_regular_ = true;
  lock_file lock_;
  lock_file whole_lock_;  ///< of NAME, where the target is NAME.partial
};

}  // namespace sluice::lib
