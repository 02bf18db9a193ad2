// SPDX-License-Identifier: Apache-2.0
// A run to its end or its first error.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/sluice.hpp"

namespace sluice::lib::test {

/// Returns the elements before the end or the first error, which is stored in `why`.
inline task<std::vector<std::int64_t>> until_error(stream<std::int64_t> s, status& why) {
  std::vector<std::int64_t> got;
  for (;;) {
    auto x = co_await s.try_next();
    why = x.why;
    if (!x) break;
    got.push_back(*x);
  }
  co_return got;
}

}  // namespace sluice::lib::test
