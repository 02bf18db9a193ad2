// SPDX-License-Identifier: Apache-2.0
#include "sluice/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice::lib::detail {

void assertion_failed(const char* expression, const char* message, const char* file, int line) noexcept {
  std::fprintf(stderr, "sluice: a defect in sluice itself: %s (%s) at %s:%d\n", message, expression, file, line);
  std::abort();
}

void requirement_failed(const char* expression, const char* message, const char* file, int line) noexcept {
  std::fprintf(stderr, "sluice: a caller broke a requirement: %s (%s) at %s:%d\n", message, expression, file, line);
  std::abort();
}

}  // namespace sluice::lib::detail
