// SPDX-License-Identifier: Apache-2.0
// A file that takes its name when it is whole.
//
//   whole_file out;
//   status why = out.begin("copy.tfrecord");
//   if (why.ok()) why = out.write(bytes);
//   if (why.ok()) why = out.finish();                     // only now is there a copy.tfrecord
//
// Until then the bytes are in PATH.partial, what had the name before can still be read, and whoever gives up leaves
// nothing behind; what a killed process left is removed by the next that begins. The mode of a file that is replaced is
// kept. Links are followed. What is no regular file (a pipe, a device) is written to as it stands.
// Errors: those of locked_target: a second writer is refused and told which process the first is.
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
  /// On disk first, then under its name: after a power cut it is the old file or the whole new one.
  status finish();

 private:
  locked_target at_;
  int file_ = -1;
};

/// A small file that is replaced as a whole, again and again, by one process: as whole_file each time, under one lock.
class replaced_file {
 public:
  replaced_file() = default;

  /// Takes the lock; makes sure that files can be made there.
  status open(std::string path);
  /// After an error it is the old file or the new one, whole in either case.
  status replace(std::string_view bytes);

 private:
  locked_target at_;
};

}  // namespace sluice::lib
