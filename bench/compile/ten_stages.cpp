// SPDX-License-Identifier: Apache-2.0
// A pipeline of a dozen stages with functions of its own, as a training program has: timed while it is compiled.
#include "sluice/sluice.hpp"

using namespace sluice::lib;

struct sample {
  std::string text;
  std::int64_t label;
  float weight;
};

task<std::int64_t> total(runtime& rt) {
  auto ds = range(1000) | map([](std::int64_t x) { return sample{std::to_string(x), x, 1.f}; }, {.parallelism = 4}) |
            filter([](const sample& s) { return s.label % 3 != 0; }) | shuffle(100, {.seed = 7}) | repeat(2) |
            take(500) | skip(3) | batch(16) | unbatch() | map([](sample s) { return s.weight *= 2, s; }) | batch(8) |
            prefetch(4);
  auto s = ds.iterate(rt);
  std::int64_t sum = 0;
  while (auto b = co_await s.next())
    for (std::int64_t x : (*b)[&sample::label]) sum += x;
  co_return sum;
}

int main() {
  runtime rt;
  return sync_wait(rt, total(rt)) == 0;
}
