// SPDX-License-Identifier: Apache-2.0
// What an error costs for each task that it passes, against exceptions through plain functions; and what a task that does
// not fail costs.
#include <stdexcept>

#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::uint64_t kRounds = 2'000;
constexpr int kDepth = 10;
constexpr double kPassed = static_cast<double>(kRounds) * kDepth;

task<std::uint64_t> nested(int depth, bool fails) {
  if (depth == 0) {
    if (fails) throw error(data_loss_error("half a record"));
    co_return 1;
  }
  auto inner = nested(depth - 1, fails);
  std::uint64_t n = co_await inner;
  co_return n;
}
task<std::uint64_t> rounds(bool fails) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != kRounds; ++i) {
    try {
      auto work = nested(kDepth, fails);
      std::uint64_t n = co_await work;
      sum += n;
    } catch (const error& e) { sum += 1 + (e.code() == status_code::ok); }
  }
  co_return sum;
}
pass of_tasks(bool fails) {
  auto timing = [](bool fails) -> task<pass> {
    stopwatch watch(timed::cpu);
    auto work = rounds(fails);
    std::uint64_t answer = co_await work;
    co_return pass{answer, kPassed, watch.ns()};
  };
  return sync_wait(one_worker(), timing(fails));
}

/// A function that catches what it calls, turns it into a status and throws it again, as a task has to.
[[gnu::noinline]] std::uint64_t called(int depth) {
  status why;
  std::uint64_t n = 0;
  try {
    if (depth == 0) throw error(data_loss_error("half a record"));
    n = called(depth - 1);
  } catch (...) { why = current_exception_status(); }
  if (!why.ok()) throw_status(why);
  return n;
}
std::uint64_t call_rounds() {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != kRounds; ++i) {
    try {
      sum += called(kDepth);
    } catch (const error& e) { sum += 1 + (e.code() == status_code::ok); }
  }
  return sum;
}

void errors(report& r) {
  workload failing = [] { return of_tasks(true); };
  workload sound = [] { return of_tasks(false); };
  workload functions = [] { return on_worker(call_rounds, kPassed); };
  r.at_most("error through ten tasks", "per task", measure(failing), 8'000, "ns");
  r.at_most("error through ten tasks", "functions that catch and throw again", compare(failing, functions).ratio(), 1.5,
            "times their time");
  r.at_most("ten tasks that succeed", "per task", measure(sound), 25, "ns");
}
SLUICE_BENCH(errors);

}  // namespace
}  // namespace sluice::lib::bench
