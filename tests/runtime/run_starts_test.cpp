// SPDX-License-Identifier: Apache-2.0
#include "runtime/run_starts.hpp"

#include <catch2/catch.hpp>

#include <set>

namespace sluice::lib::run_starts_test {

using namespace std::chrono_literals;

TEST_CASE("runs draw different seeds, also in two runtimes; each is a signed number") {
  run_starts one, other;
  std::set<std::uint64_t> seen;
  for (int i = 0; i != 1000; ++i) {
    seen.insert(one.drawn_seed(time_point()));
    seen.insert(other.drawn_seed(time_point()));
  }
  CHECK(seen.size() == 2000);
  CHECK(*seen.rbegin() <= ~std::uint64_t{0} >> 1);
}

TEST_CASE("the CPU time at a start is read again after 100 microseconds") {
  run_starts starts;
  const time_point begin{1s};
  const duration first = starts.cpu_time(begin);
  CHECK(first.count() > 0);
  const duration until = process_cpu_time() + 200us;
  while (process_cpu_time() < until) continue;
  CHECK(starts.cpu_time(begin + 99us) == first);
  const duration second = starts.cpu_time(begin + 100us);
  CHECK(second >= until);
  CHECK(starts.cpu_time(begin + 150us) == second);
}

}  // namespace sluice::lib::run_starts_test
