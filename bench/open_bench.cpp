// SPDX-License-Identifier: Apache-2.0
// The cost of a short stream: the time to open five stages, and the memory of an open stream that is idle.
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr int kOpened = 2000;

dataset<batched<std::int64_t>> five_stages() {
  return range(1000) | map([](std::int64_t x) { return x + 1; }) | filter([](std::int64_t x) { return x % 2 == 0; }) |
         take(100) | batch(10);
}

/// Opens streams one after another, and takes one element of each: the stages open with the first request.
task<double> nanoseconds_opened(dataset<batched<std::int64_t>> plan, runtime& rt) {
  stopwatch watch(timed::cpu);
  for (int i = 0; i != kOpened; ++i) {
    auto s = plan.iterate(rt);
    auto x = co_await s.next();
    if (!x || x->rows()[0] != 2) throw std::runtime_error("another first element");
  }
  co_return watch.ns();
}

task<std::uint64_t> open_all(std::vector<stream<batched<std::int64_t>>>& idle) {
  std::uint64_t sum = 0;
  for (auto& s : idle) {
    auto x = co_await s.next();
    sum += static_cast<std::uint64_t>(x->rows()[0]);
  }
  co_return sum;
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(getpagesize());
}

void opening(report& r) {
  auto plan = five_stages();
  runtime& rt = one_worker();
  samples opened = measure([&] { return pass{0, kOpened, sync_wait(rt, nanoseconds_opened(plan, rt)) / 1000}; });
  r.at_most("open a stream of five stages, and its first batch", "none", opened, 5, "us");
  std::vector<stream<batched<std::int64_t>>> idle;
  idle.reserve(kOpened);
  std::size_t before = resident_bytes();
  for (int i = 0; i != kOpened; ++i) idle.push_back(plan.iterate(rt));
  r.at_most("a stream of five stages before its first element", "none",
            samples({static_cast<double>(resident_bytes() - before) / kOpened}), 8192, "bytes");
  if (sync_wait(rt, open_all(idle)) != 2 * kOpened) throw std::runtime_error("another first element");
  r.at_most("the same after its first batch", "none",
            samples({static_cast<double>(resident_bytes() - before) / kOpened}), 8192, "bytes");
}
SLUICE_BENCH(opening);

}  // namespace
}  // namespace sluice::lib::bench
