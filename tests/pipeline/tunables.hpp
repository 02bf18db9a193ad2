// SPDX-License-Identifier: Apache-2.0
// Every operator with a knob, at a setting of it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::testing {

namespace tunable_functions {

using int64 = std::int64_t;
inline int64 tripled(int64 x) { return 3 * x; }
inline int64 odd_only(int64 x) {
  if (x % 5 == 2) throw_status(data_loss_error("a bad element"));
  return x;
}
inline task<int64> late(int64 x) {
  auto wait = sleep_for(std::chrono::microseconds(x * 7 % 30));
  co_await wait;
  co_return x + 1;
}
inline dataset<int64> six_from(int64 x) { return range(x * 10 + 6, {.start = x * 10}); }
inline dataset<int64> mapped_from(int64 x) { return six_from(x) | map(tripled, {.parallelism = 2}) | prefetch(3); }

}  // namespace tunable_functions

struct tunable {
  const char* name;
  dataset<std::int64_t> (*at)(std::int64_t setting);
  /// Under error_policy::skip each gives 45 elements at least.
  bool is_ordered() const { return std::string(name).find("sloppy") == std::string::npos; }
};

inline const std::vector<tunable>& tunables() {
  using namespace tunable_functions;
  constexpr auto kSloppy = order::sloppy;
  static const std::vector<tunable> all = {
      {"map", [](int64 n) { return range(60) | map(tripled, {.parallelism = n}); }},
      {"map that waits", [](int64 n) { return range(60) | map(late, {.parallelism = n}); }},
      {"map that drops", [](int64 n) { return range(60) | map(odd_only, {.parallelism = n}) | batch(3) | unbatch(); }},
      {"sloppy map",
       [](int64 n) { return range(60) | map(tripled, {.parallelism = n, .order = kSloppy}) | batch(4) | unbatch(); }},
      {"sloppy map that waits", [](int64 n) { return range(60) | map(late, {.parallelism = n, .order = kSloppy}); }},
      {"sloppy map that drops",
       [](int64 n) { return range(60) | map(odd_only, {.parallelism = n, .order = kSloppy}); }},
      {"interleave", [](int64 n) { return range(9) | interleave(six_from, {.cycle_length = 4, .parallelism = n}); }},
      {"interleave of maps",
       [](int64 n) {
         return range(9) | prefetch(n) |
                interleave(mapped_from, {.cycle_length = 3, .block_length = 2, .parallelism = n});
       }},
      {"sloppy interleave",
       [](int64 n) {
         return range(9) | interleave(six_from, {.cycle_length = 4, .parallelism = n, .order = kSloppy});
       }},
      {"prefetch", [](int64 n) { return range(60) | prefetch(n) | shuffle(9, {.seed = 3}) | prefetch(n) | repeat(2); }},
  };
  return all;
}

inline std::vector<std::int64_t> sorted(std::vector<std::int64_t> v) {
  std::sort(v.begin(), v.end());
  return v;
}

}  // namespace sluice::lib::testing
