// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace sluice::lib {

/// The bytes [begin, end) of a file, or of a part of one.
struct byte_range {
  std::uint64_t begin = 0, end = 0;
};

}  // namespace sluice::lib
