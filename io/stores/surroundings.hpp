// SPDX-License-Identifier: Apache-2.0
// Where credentials are looked for: the variables of the process, its files, and the time of the world, which signatures carry. Tests
// put others in.
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
  std::function<std::optional<std::string>(const char* name)> variable;  ///< empty ones are none
  std::function<result<std::string>(const std::string& path)> read_file;
  std::function<std::int64_t()> now_ns;  ///< since 1970

  static surroundings of_process();

  /// The variable; "" where there is none.
  std::string text(const char* name) const { return variable(name).value_or(std::string()); }
  /// Is the variable 1, true, yes or on?
  bool flag(const char* name) const;
  /// HOME and `below`.
  std::string in_home(const std::string& below) const { return text("HOME") + "/" + below; }
};

}  // namespace sluice::lib::detail
