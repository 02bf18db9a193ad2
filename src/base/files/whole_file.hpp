// SPDX-License-Identifier: Apache-2.0
// A file that takes its name when it is complete.
//
//   whole_file out;
//   status why = out.begin("copy.tfrecord");
//   if (why.ok()) why = out.write(bytes);
//   if (why.ok()) why = out.finish();                     // copy.tfrecord exists only now
//
// Until then the bytes are in PATH.partial, and an old file with that name can still be read. A writer that gives up
// removes its partial file. The partial file of a killed process is removed by the next writer. A file that replaces
// another one keeps its mode. Links are followed. A target that is not a regular file (a pipe, a device) is written to
// directly.
// Errors: those of locked_target: a second writer is refused, and the error has the process id of the first.
// Thread: one caller; it blocks.
#pragma once

#include <string>
#include <string_view>

#include "base/files/locked_target.hpp"

namespace sluice::lib {

class whole_file {
 public:
  whole_file() = default;
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file();

  status begin(std::string path);
  status write(std::string_view bytes);
  /// Synchronizes the bytes, then renames the file: after a power cut the path has the old file or the complete new
  /// one.
  status finish();

 private:
  locked_target at_;
  int file_ = -1;
};

/// A small file that one process replaces as a whole repeatedly, each time like whole_file, under one lock.
class replaced_file {
 public:
  replaced_file() = default;

  /// Takes the lock, and checks that files can be created there.
  status open(std::string path);
  /// After an error the path has the old file or the new one, in either case complete.
  status replace(std::string_view bytes);

 private:
  locked_target at_;
};

}  // namespace sluice::lib
