// SPDX-License-Identifier: Apache-2.0
// The environment in which credentials are searched: the variables of the process, its files, and the real time, which
// signatures contain. Tests replace it.
//
// Thread: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

struct surroundings {
  std::function<std::optional<std::string>(const char* name)> variable;  ///< returns nothing for empty variables
  std::function<result<std::string>(const std::string& path)> read_file;
  std::function<std::int64_t()> now_ns;  ///< since 1970

  static surroundings of_process();

  /// Returns the variable; "" if it is not set.
  std::string text(const char* name) const { return variable(name).value_or(std::string()); }
  /// Returns true if the variable is 1, true, yes or on.
  bool flag(const char* name) const;
  /// Returns the path `below` in the folder HOME.
  std::string in_home(const std::string& below) const { return text("HOME") + "/" + below; }
};

}  // namespace sluice::lib::detail
