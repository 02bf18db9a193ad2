// SPDX-License-Identifier: Apache-2.0
// distribute() without an address beside the plan without it: the workers are in this process, so their elements are handed
// over as they are. Elements of 64 KiB.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr double kEmbeddedGoal = 1.1;
constexpr std::int64_t kRow = 8192, kBatches = 100'000;

template <class T> std::uint64_t sum_of(const T& numbers) {
  std::uint64_t sum = 0;
  for (const std::int64_t x : numbers) sum += static_cast<std::uint64_t>(x);
  return sum;
}
std::uint64_t digest_of(const batched<std::int64_t>& b) { return sum_of(b.values()); }
std::uint64_t digest_of(const record& r) {
  return r.size() + static_cast<unsigned char>(r.view().front()) * 3u + static_cast<unsigned char>(r.view().back());
}

template <class T> task<pass> digesting(stream<T> s) {
  pass p;
  stopwatch watch(timed::wall);
  while (auto x = co_await s.next()) {
    p.answer += digest_of(*x);
    ++p.elements;
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}
template <class T> workload digest(dataset<T> plan, runtime& rt) {
  return [plan = std::move(plan), &rt] { return sync_wait(rt, digesting<T>(plan.iterate(rt))); };
}

template <class T> void embedded_row(report& r, const std::string& name, const dataset<T>& plan) {
  const comparison c = compare(digest(plan | distribute(), all_workers()), digest(plan, all_workers()));
  r.at_most(name + ", distribute() in one process", "the plan without it", c.ratio(), kEmbeddedGoal, "times its time");
}

void embedded(report& r) {
  embedded_row(r, "batches of 64 KiB", range(kRow * kBatches) | batch(kRow));
  const auto path = std::filesystem::temp_directory_path() / ("sluice_bench_distribute_" + std::to_string(getpid()));
  {
    std::ofstream file(path, std::ios::binary);
    std::string row(static_cast<std::size_t>(kRow) * 8, 'a');
    for (int i = 0; i != 4000; ++i) {
      row.back() = static_cast<char>('a' + i % 26);
      file.write(row.data(), static_cast<std::streamsize>(row.size()));
    }
  }
  embedded_row(r, "records of 64 KiB", fixed_length(path.string(), {.record_bytes = kRow * 8}));
  std::filesystem::remove(path);
}
SLUICE_BENCH(embedded);

}  // namespace
}  // namespace sluice::lib::bench
