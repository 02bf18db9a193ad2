// SPDX-License-Identifier: Apache-2.0
// Errors that all file systems share: a pattern without matches, an attempt to open a pattern, and a file that differs
// from its listing.
#pragma once

#include <cerrno>
#include <string>

#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

inline bool has_wildcard(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

inline status nothing_matches(const std::string& pattern) {
  if (!has_wildcard(pattern)) return not_found_error("cannot open: No such file or directory").in_file(pattern);
  return not_found_error("no file matches the pattern \"" + pattern + "\"");
}

/// `error_number`: the errno of opening the path.
inline status cannot_open(int error_number, const std::string& path) {
  std::string what = "cannot open";
  if (error_number == ENOENT && has_wildcard(path))
    what = "is a pattern, not a file; read its matches with list_files(\"" + path + "\") | interleave(…): cannot open";
  return errno_error(error_number, what).in_file(path);
}

inline status another_file(const std::string& path) {
  return failed_precondition_error("is another file than the one that was listed").in_file(path);
}

}  // namespace sluice::lib::detail
