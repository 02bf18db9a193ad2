// SPDX-License-Identifier: Apache-2.0
// Two cores beside one: what working ahead adds to a plan, or takes from it. Each row is the wall time of a parallel plan on
// as many workers as there are cores, divided by that of its sequential plan on one worker.
#include <unistd.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "bench/harness.hpp"
#include "sluice/format/sample_records.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr double kNeverSlower = 1.03;
constexpr double kDearGoal = 0.6;
constexpr std::int64_t kInputs = 8;  // of an interleave

std::uint64_t digest(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::uint64_t digest(const std::string& s) { return s.size() + static_cast<unsigned char>(s.back()); }

/// Elements that own `Bytes`; 8 are the number itself.
template <std::size_t Bytes> struct payload {
  using type = std::string;
  static std::string make(std::int64_t x) { return std::string(Bytes, static_cast<char>(x)); }
};
template <> struct payload<8> {
  using type = std::int64_t;
  static std::int64_t make(std::int64_t x) { return x * 3; }
};
template <std::size_t Bytes> typename payload<Bytes>::type make(std::int64_t x) { return payload<Bytes>::make(x); }

template <class T> T cheap(T x) {
  if constexpr (std::is_same_v<T, std::string>) x.back() = static_cast<char>(x.back() + 1);
  else ++x;
  return x;
}
/// Computes for about a microsecond.
template <class T> T dear(T x) {
  std::uint64_t h = digest(x);
  for (int i = 0; i < 700; ++i) h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
  T y = cheap(std::move(x));
  if constexpr (std::is_same_v<T, std::string>) y.front() = static_cast<char>(h);
  else y ^= static_cast<std::int64_t>(h & 1);
  return y;
}

template <class T> task<pass> draining(any_stream s) {
  pass p;
  stopwatch watch(timed::wall);
  while (auto b = co_await s.next_block({.elements = 256})) {
    const T* x = b.template as<T>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += digest(x[i]);
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}

template <class T> workload running(dataset<T> plan, runtime& rt, double elements) {
  return [plan = std::move(plan), &rt, elements] {
    pass p = sync_wait(rt, draining<T>(open_run(rt, plan.plan(), {})));
    p.elements = elements;
    return p;
  };
}

template <class T>
void row(report& r, const std::string& name, const dataset<T>& parallel, const dataset<T>& sequential, double n,
         double goal) {
  comparison c = compare(running(parallel, all_workers(), n), running(sequential, one_worker(), n));
  r.at_most(name, "sequential plan on one worker", c.ratio(), goal, "times its time");
}

/// Where the elements cost little, `cheap` of them: of a run of under a millisecond the start of the tasks is a part. `n` of
/// the others.
template <std::size_t Bytes> void rows_of(report& r, const std::string& size, std::int64_t cheap_n, std::int64_t n) {
  using T = typename payload<Bytes>::type;
  auto count = [](std::int64_t elements) { return static_cast<double>(elements); };
  auto made = [](std::int64_t elements) { return range(elements) | map(make<Bytes>); };
  auto inner_of = [](std::int64_t elements) {
    return [each = elements / kInputs](std::int64_t) { return range(each) | map(make<Bytes>); };
  };
  auto turns = [=](std::int64_t elements) {
    return range(kInputs) | interleave(inner_of(elements), {.cycle_length = kInputs, .parallelism = 1});
  };
  auto ahead = [=](std::int64_t elements) {
    return range(kInputs) | interleave(inner_of(elements), {.cycle_length = kInputs, .parallelism = autotune});
  };
  map_options two{.parallelism = autotune};
  const double dear_goal = Bytes < 10'000 ? kDearGoal : kNeverSlower;
  row<T>(r, size + ", prefetch", made(cheap_n) | prefetch(autotune), made(cheap_n), count(cheap_n), kNeverSlower);
  row<T>(r, size + ", parallel map", made(cheap_n) | map(cheap<T>, two), made(cheap_n) | map(cheap<T>), count(cheap_n),
         kNeverSlower);
  row<T>(r, size + ", parallel map of 1 us", made(n) | map(dear<T>, two), made(n) | map(dear<T>), count(n), dear_goal);
  row<T>(r, size + ", parallel interleave", ahead(cheap_n), turns(cheap_n), count(cheap_n), kNeverSlower);
  row<T>(r, size + ", all three, map of 1 us", ahead(n) | map(dear<T>, two) | prefetch(autotune),
         turns(n) | map(dear<T>), count(n), dear_goal);
}

void parallel(report& r) {
  rows_of<8>(r, "8 B", 8'000'000, 400'000);
  rows_of<165>(r, "165 B", 1'600'000, 200'000);
  rows_of<10'000>(r, "10 KB", 80'000, 40'000);
  rows_of<1'000'000>(r, "1 MB", 400, 400);
}
SLUICE_BENCH(parallel);

task<std::uint64_t> digest_of_labels(stream<batched<sample_example>> s) {
  std::uint64_t sum = 0;
  while (auto b = co_await s.next())
    for (std::int64_t label : (*b)[&sample_example::label]) sum += digest(label);
  co_return sum;
}

/// A parser of the records of a file, or of strings in memory, on all cores beside the same parser on one. A batch adopts
/// the rows.
void parallel_parse_into_batches(report& r) {
  constexpr sample_options kSample = {.records = 400'000, .shards = 1};
  const auto path = std::filesystem::temp_directory_path() / ("sluice_bench_parse_" + std::to_string(getpid()));
  if (status why = write_sample_shard(path.string(), kSample, 0); !why.ok()) throw std::runtime_error(why.to_string());
  auto ours = [](auto& plan, runtime& rt) {
    return [&plan, &rt] {
      pass p{.elements = static_cast<double>(kSample.records)};
      const std::clock_t began = std::clock();  // of all threads
      p.answer = sync_wait(rt, digest_of_labels(plan.iterate(rt)));
      p.ns = static_cast<double>(std::clock() - began) * 1e9 / CLOCKS_PER_SEC;
      return p;
    };
  };
  auto row = [&](const std::string& name, const auto& in, std::int64_t rows) {
    auto sequential = in | parse_example<sample_example>() | batch(rows);
    auto parallel = in | parse_example<sample_example>({.parallelism = autotune}) | batch(rows);
    r.at_most(name + " into batches of " + std::to_string(rows) + ", CPU time", "its sequential plan",
              compare(ours(parallel, all_workers()), ours(sequential, one_worker())).ratio(), 1.05, "times its time");
  };
  for (std::int64_t rows : {64, 1024, 16'384}) row("parallel parse of a file", tfrecord(path.string()), rows);
  row("parallel parse of strings", tfrecord(path.string()) | map([](const record& x) { return std::string(x.view()); }),
      1024);
  std::filesystem::remove(path);
}
SLUICE_BENCH(parallel_parse_into_batches);

}  // namespace
}  // namespace sluice::lib::bench
