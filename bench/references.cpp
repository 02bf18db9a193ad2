// SPDX-License-Identifier: Apache-2.0
#include "bench/references.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>

#include "bench/harness.hpp"

namespace sluice::lib::bench {
namespace {

generator numbers(std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) co_yield i;
}
template <class F> generator mapped(generator in, F f) {
  while (auto x = co_await in.next()) co_yield f(*x);
}
template <class F> generator filtered(generator in, F f) {
  while (auto x = co_await in.next()) {
    std::int64_t v = *x;
    if (f(v)) co_yield v;
  }
}

struct detached {
  struct promise_type {
    detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::abort(); }
  };
};
detached add_up(generator s, std::uint64_t& sum) {
  while (auto x = co_await s.next()) sum += static_cast<std::uint64_t>(*x);
}

}  // namespace

std::uint64_t chain_by_generators(std::int64_t n) {
  std::uint64_t sum = 0;
  add_up(mapped(mapped(filtered(mapped(numbers(n), first), keeps), second), third), sum);
  return sum;
}

std::uint64_t chain_by_hand(std::int64_t n, std::uint32_t block) {
  std::vector<std::int64_t> room(block);
  std::int64_t* p = room.data();
  std::uint64_t sum = 0;
  for (std::int64_t at = 0; at < n; at += block) {
    auto k = static_cast<std::uint32_t>(std::min<std::int64_t>(block, n - at));
    for (std::uint32_t i = 0; i != k; ++i) p[i] = at + i;
    benchmark::ClobberMemory();  // each stage stores, as ours must
    for (std::uint32_t i = 0; i != k; ++i) p[i] = first(p[i]);
    benchmark::ClobberMemory();
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i != k; ++i) {
      std::int64_t x = p[i];
      p[kept] = x;
      kept += keeps(x);
    }
    benchmark::ClobberMemory();
    for (std::uint32_t i = 0; i != kept; ++i) p[i] = second(p[i]);
    benchmark::ClobberMemory();
    for (std::uint32_t i = 0; i != kept; ++i) p[i] = third(p[i]);
    benchmark::ClobberMemory();
    std::int64_t of_block = 0;
    for (std::uint32_t i = 0; i != kept; ++i) of_block += p[i];
    sum += static_cast<std::uint64_t>(of_block);
  }
  benchmark::DoNotOptimize(p);
  return sum;
}

machine_costs measure_machine() {
  constexpr int kTimes = 2'000'000;
  machine_costs costs;
  stopwatch adding(timed::cpu);
  std::uint64_t sum = 0;
  for (int i = 0; i < kTimes; ++i) {
    sum += static_cast<std::uint64_t>(i);
    benchmark::DoNotOptimize(sum);
  }
  costs.addition = adding.ns() / kTimes;
  using target = std::uint64_t (*)(std::uint64_t);
  const target targets[2] = {[](std::uint64_t x) { return x + 1; }, [](std::uint64_t x) { return x + 2; }};
  stopwatch jumping(timed::cpu);
  for (int i = 0; i < kTimes; ++i) {
    target to = targets[i & 1];
    benchmark::DoNotOptimize(to);
    sum = to(sum);
  }
  costs.indirect_jump = jumping.ns() / kTimes;
  benchmark::DoNotOptimize(sum);
  return costs;
}

}  // namespace sluice::lib::bench
