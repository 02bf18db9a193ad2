// SPDX-License-Identifier: Apache-2.0
// The errors of a command that handles many files: the whole text of each cause once, and the names of the other files
// that failed for it.
//
//   repeated_reasons reasons;
//   print_error(reasons.text_of(why, "a.csv"));     // "permission_denied: s3://b/a.csv: writing, attempt 1: … 403 …"
//   print_error(reasons.text_of(why, "b.csv"));     // "s3://b/b.csv: the same error as of s3://b/a.csv"
//
// Errors have one cause if they differ only in the file, the place in it, and the server's number of the request.
// Thread: one at a time.
#pragma once

#include <map>
#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib::cli {

class repeated_reasons {
 public:
  /// `file`: names the error's file if the error does not.
  std::string text_of(const status& why, const std::string& file);

 private:
  std::map<std::string, std::string> first_files_;  ///< by cause
};

}  // namespace sluice::lib::cli
