// SPDX-License-Identifier: Apache-2.0
// A file that takes its name when it is whole.
//
//   whole_file out;
//   status why = out.begin("copy.tfrecord");
//   if (why.ok()) why = out.write(bytes);
//   if (why.ok()) why = out.finish();                     // only now is there a copy.tfrecord
//
// Until then the bytes are in PATH.partial, what had the name before can still be read, and whoever gives up leaves
// nothing behind. Links are followed. What is no regular file (a pipe, a device) is written to as it stands.
// Errors: those of the file system, naming the path.
// Thread: one caller; it blocks.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice {

class whole_file {
 public:
  whole_file() = default;
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file();

  /// `go_on`: after a copy of what is there under this name, if anything is.
  status begin(std::string path, bool go_on = false);
  status write(std::string_view bytes);
  /// On disk first, then under its name: after a power cut it is the old file or the whole new one.
  status finish();

 private:
  status failed(const char* what) const;
  std::string path_;     ///< as it was asked for
  std::string target_;   ///< where it really is
  std::string written_;  ///< what is open: the target where that is no regular file
  std::FILE* file_ = nullptr;
};

}  // namespace sluice
