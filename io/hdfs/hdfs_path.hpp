// SPDX-License-Identifier: Apache-2.0
// Parses scheme://authority/path.
#pragma once

#include <string>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

struct hdfs_path {
  std::string text;       ///< the whole path, for messages
  std::string scheme;     ///< in lower case
  std::string authority;  ///< a host, host:port, the name of a pair of name nodes, or empty
  std::string path;       ///< begins with a /
  /// scheme://authority
  std::string root() const { return text.substr(0, text.size() - (has_path ? path.size() : 0)); }
  bool has_path = true;  ///< false: the path was empty, and / was added
};

/// Errors: invalid_argument: the authority has an invalid character, or a user or password.
result<hdfs_path> parse_hdfs_path(std::string text);

}  // namespace sluice::lib::detail
