// SPDX-License-Identifier: Apache-2.0
// A pipeline is a value; iterate() runs it; co_await takes from it.
#include <cstdio>
#include <sluice/sluice.hpp>

using namespace sluice;

task<void> print_batches(runtime& rt) {
  auto squares =
      range(10) | map([](std::int64_t x) { return x * x; }, {.parallelism = 4}) | shuffle(5, {.seed = 7}) | batch(4);
  auto s = squares.iterate(rt);
  while (auto b = co_await s.next()) {
    for (std::int64_t x : b->values()) std::printf("%3ld", static_cast<long>(x));
    std::printf("\n");
  }
}

int main() {
  runtime rt;
  sync_wait(rt, print_batches(rt));
}
