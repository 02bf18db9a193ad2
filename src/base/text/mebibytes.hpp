// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/strings/str_format.h>

#include <cstddef>
#include <string>

namespace sluice::lib {

/// "1.5 MiB"
inline std::string mebibytes(std::size_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace sluice::lib
