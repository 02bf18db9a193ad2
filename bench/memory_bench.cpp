// SPDX-License-Identifier: Apache-2.0
// Does the byte budget hold? The process's peak over what it had before, against the budget of its runtime.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kBudgetBytes = std::size_t{64} << 20;
constexpr std::int64_t kBlobs = 4'000;
constexpr std::size_t kBlobBytes = 200'000;

std::size_t resident_peak_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (status >> word)
    if (word == "VmHWM:") status >> kib;
  return kib << 10;
}

std::string blob(std::int64_t i) { return std::string(kBlobBytes, static_cast<char>('a' + i % 26)); }

task<std::uint64_t> consume(stream<std::string> s) {
  std::uint64_t bytes = 0;
  while (auto x = co_await s.next()) bytes += x->size();
  co_return bytes;
}

/// Peak bytes beyond start and budget of a run at this parallelism, in this process.
double over_budget_mib(int parallelism) {
  runtime rt({.workers = 4, .memory_budget_bytes = kBudgetBytes});
  auto plan = range(kBlobs) | map(blob, {.parallelism = parallelism}) | prefetch(1024);
  std::size_t before = resident_peak_bytes();
  if (sync_wait(rt, consume(plan.iterate(rt))) != kBlobs * kBlobBytes) throw std::runtime_error("bytes were lost");
  auto grown = static_cast<double>(resident_peak_bytes() - before);
  return (grown - static_cast<double>(kBudgetBytes)) / (1 << 20);
}

/// In a process of its own: peaks do not go down again.
double in_child(int parallelism) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  pid_t child = fork();
  if (child == 0) {
    double mib = over_budget_mib(parallelism);
    bool told = ::write(ends[1], &mib, sizeof mib) == sizeof mib;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  double mib = 0;
  bool heard = read(ends[0], &mib, sizeof mib) == sizeof mib;
  close(ends[0]);
  int how = 0;
  waitpid(child, &how, 0);
  if (!heard || how != 0) throw std::runtime_error("the child process failed");
  return mib;
}

// Runs first (by name) and only before any runtime was made in this process: a fork takes no threads along.
void a_memory(report& r) {
  for (int parallelism : {4, 16, 64}) {
    std::string name = "peak memory, map in parallel by " + std::to_string(parallelism);
    r.at_most(name, "the ledger's budget of 64 MiB", samples({in_child(parallelism)}), 64, "MiB above it");
  }
}
SLUICE_BENCH(a_memory);

}  // namespace
}  // namespace sluice::lib::bench
