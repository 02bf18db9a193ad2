// SPDX-License-Identifier: Apache-2.0
// What every file system says of listings: to a pattern without a match, and to an open that knows a file from one.
#pragma once

#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

inline status nothing_matches(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos)
    return not_found_error("cannot open: No such file or directory").in_file(pattern);
  return not_found_error("no file matches the pattern \"" + pattern + "\"");
}

inline status another_file(const std::string& path) {
  return failed_precondition_error("is another file than the one that was listed").in_file(path);
}

}  // namespace sluice::lib::detail
