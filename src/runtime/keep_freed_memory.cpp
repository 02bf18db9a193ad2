// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/keep_freed_memory.hpp"

#include <algorithm>
#include <limits>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace sluice::lib {

bool keep_freed_memory(kept_memory how) noexcept {
#if defined(__GLIBC__)
  auto number = [](std::size_t bytes) {
    return static_cast<int>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
  };
  bool maps = mallopt(M_MMAP_THRESHOLD, number(how.map_bytes)) == 1;
  return mallopt(M_TRIM_THRESHOLD, number(how.trim_bytes)) == 1 && maps;
#else
  (void)how;
  return false;
#endif
}

}  // namespace sluice::lib
