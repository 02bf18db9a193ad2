// SPDX-License-Identifier: Apache-2.0
// Stop anywhere, go on anywhere: a checkpoint is a place, not a copy of what was in the air.
#include <cstdio>

#include "sluice/sluice.hpp"

using namespace sluice;

/// The same plan in both lives of the program.
auto numbers() {
  return range(4) |
         interleave([](std::int64_t n) { return range(10 * n + 5, {.start = 10 * n}); },
                    {.cycle_length = 2, .parallelism = 2}) |
         map([](std::int64_t x) { return x * 2; }, {.parallelism = 4}) | shuffle(6, {.seed = 3}) | prefetch(4);
}

task<checkpoint> print_some(stream<std::int64_t> s, int count) {
  for (int i = 0; i != count; ++i) {
    auto x = co_await s.next();
    if (!x) break;
    std::printf(" %ld", static_cast<long>(*x));
  }
  std::printf("\n");
  co_return s.position();
}

int main() {
  const char* path = "06_checkpoint.tmp";
  {
    runtime rt({.workers = 2});
    std::printf("all at once:   ");
    sync_wait(rt, print_some(numbers().iterate(rt), 100));
    std::printf("first life:    ");
    checkpoint here = sync_wait(rt, print_some(numbers().iterate(rt), 7));
    status saved = save_checkpoint(path, here);  // a crash leaves the old file or the new one
    if (!saved.ok()) throw_status(saved);
  }
  checkpoint here = load_checkpoint(path).value();
  runtime rt({.workers = 1});  // another machine, another number of cores: the order stays
  std::printf("second life:   ");
  sync_wait(rt, print_some(numbers().iterate(rt, {.from = here}), 100));
  std::remove(path);
}
