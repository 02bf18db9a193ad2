// SPDX-License-Identifier: Apache-2.0
// A stage of your own is a coroutine from stream to stream. With its state in `saved`, it resumes where it stopped.
#include <cstdio>

#include "sluice/sluice.hpp"

using namespace sluice;

/// The sum so far after each number, and how many there were.
struct running {
  std::int64_t count = 0;
  std::int64_t sum = 0;
};

// Whenever it asks for input, `total` accounts for everything taken so far: that is all a position needs.
stream<running> running_sum(saved<running> total, stream<std::int64_t> in) {
  while (auto x = co_await in.next()) {
    total->count += 1;
    total->sum += *x;
    co_yield *total;
  }
}

// A function from dataset to dataset gives a stage its first arguments.
stream<running> summed(stream<std::int64_t> in) {
  saved<running> zero;
  return running_sum(std::move(zero), std::move(in));
}

task<checkpoint> print_some(stream<running> s, int count) {
  for (int i = 0; i != count; ++i) {
    auto r = co_await s.next();
    if (!r) break;
    std::printf("%ld numbers, sum %ld\n", static_cast<long>(r->count), static_cast<long>(r->sum));
  }
  co_return s.position();
}

int main() {
  runtime rt;
  auto ds = range(1000, {.start = 1}) | filter([](std::int64_t x) { return x % 2 == 1; }) | transform(summed);
  checkpoint here = sync_wait(rt, print_some(ds.iterate(rt), 3));
  std::printf("stopped; the position takes fewer than 100 bytes: %s\n", here.bytes.size() < 100 ? "yes" : "no");
  sync_wait(rt, print_some(ds.iterate(rt, {.from = here}), 3));
}
