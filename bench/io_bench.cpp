// SPDX-License-Identifier: Apache-2.0
// Reading files, cold and hot, many and large, beside loops and rings by hand. `./dev bench io` makes one table of these, of the
// rows of
// other benches, and of what takes a server (bench/io_table.py).
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/harness.hpp"
#include "bench/io_references.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/files.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr unsigned kBlocksAtOnce = 8;
constexpr std::size_t kScannedBytes = std::size_t{256} << 20;
constexpr std::size_t kRecordBytes = 150'000;
constexpr int kSmallFiles = 20'000;
constexpr std::size_t kSmallBytes = std::size_t{16} << 10;
constexpr std::size_t kRandomBytes = 4096;
constexpr std::size_t kRandomReads = 20'000;
constexpr unsigned kRandomDepth = 32;
constexpr int kIoPairs = 7;

class bench_folder {
 public:
  bench_folder() : path_(std::filesystem::temp_directory_path() / ("sluice_bench_io_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  bench_folder(const bench_folder&) = delete;
  ~bench_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream out(path(name), std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
      throw std::runtime_error("cannot write " + path(name));
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

/// Bytes that nothing on the way can shrink.
std::string noise(std::size_t n, std::uint64_t seed) {
  std::string s(n, '\0');
  std::uint64_t x = seed * 2 + 1;
  for (char& c : s) c = static_cast<char>((x = x * 6364136223846793005u + 1442695040888963407u) >> 56);
  return s;
}

std::string scanned_file(const bench_folder& folder) {
  std::string bytes;
  bytes.reserve(kScannedBytes + kRecordBytes);
  const std::string data = noise(kRecordBytes, 1);
  while (bytes.size() < kScannedBytes) append_tfrecord(bytes, data);
  std::string path = folder.write("scanned.tfrecord", bytes);
  write_back(path);
  return path;
}

std::vector<std::string> small_files(const bench_folder& folder) {
  std::filesystem::create_directories(folder.path("small"));
  std::vector<std::string> paths;
  for (int i = 0; i != kSmallFiles; ++i) {
    const std::string number = std::to_string(100'000 + i);
    paths.push_back(folder.write("small/" + number, noise(kSmallBytes, static_cast<std::uint64_t>(i))));
  }
  write_back(paths.front());
  return paths;
}

runtime& threads_only() {
  static runtime rt({.io = "threads"});
  return rt;
}

task<pass> reading_records(any_stream s) {
  pass p;
  stopwatch watch(timed::wall);
  while (auto b = co_await s.next_block({.elements = 256})) {
    const record* r = b.as<record>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += r[i].size() + kTfrecordFramingBytes;
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}

task<pass> reading_small(any_stream s) {
  pass p;
  stopwatch watch(timed::wall);
  while (auto b = co_await s.next_block({.elements = 64})) {
    const record* r = b.as<record>();
    for (std::uint32_t i = 0; i != b.size(); ++i) p.answer += digest_of_file(r[i].view().data(), r[i].size());
  }
  p.ns = watch.ns();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return p;
}

template <class Plan> workload reading(task<pass> (*how)(any_stream), const Plan& plan, runtime& rt) {
  return [how, plan, &rt] { return sync_wait(rt, how(open_run(rt, plan.plan(), {}))); };
}

template <class F> workload by_wall(F f) {
  return [f] {
    pass p;
    stopwatch watch(timed::wall);
    p.answer = f();
    p.ns = watch.ns();
    return p;
  };
}

/// Nothing of `paths` is in memory when a pass begins.
workload cold(const std::vector<std::string>& paths, workload of) {
  return [&paths, of = std::move(of)] {
    evict(paths);
    return of();
  };
}

/// Passes of all, in turns. For each turn: the least of what `others` took, and what each of the others took, over what ours
/// took.
struct beside_several {
  std::vector<double> best;
  std::vector<std::vector<double>> each;
};
beside_several compare_several(const workload& ours, const std::vector<workload>& others, int turns) {
  beside_several c;
  c.each.resize(others.size());
  const std::uint64_t answer = ours().answer;
  for (const workload& w : others)
    if (const std::uint64_t theirs = w().answer; theirs != answer)
      throw std::runtime_error("the answers differ: ours " + std::to_string(answer) + ", theirs " +
                               std::to_string(theirs));
  for (int i = 0; i != turns; ++i) {
    const double ns = ours().ns;
    double least = 0;
    for (std::size_t k = 0; k != others.size(); ++k) {
      const double theirs = others[k]().ns;
      least = k == 0 ? theirs : std::min(least, theirs);
      c.each[k].push_back(theirs / ns);
    }
    c.best.push_back(least / ns);
  }
  return c;
}

void io_cold_scan(report& r) {
  bench_folder folder;
  const std::vector<std::string> paths = {scanned_file(folder)};
  const std::string& path = paths.front();
  auto ours = cold(paths, reading(reading_records, tfrecord(path), all_workers()));
  std::vector<workload> others = {
      cold(paths, by_wall([&] { return read_by_pread(path, kBlockBytes); })),
      cold(paths, by_wall([&] { return read_by_ring(path, kBlockBytes, kBlocksAtOnce, false); })),
      cold(paths, by_wall([&] { return read_by_ring(path, kBlockBytes, kBlocksAtOnce, true); }))};
  beside_several c = compare_several(ours, others, kIoPairs);
  r.at_least("cold scan, both CRCs", "best of pread, ring, ring with O_DIRECT", samples(c.best), 0.9, "of its speed");
  r.at_least("cold scan, both CRCs", "pread of 1 MiB, as dd", samples(c.each[0]), 1.5, "times as fast");
}
SLUICE_BENCH(io_cold_scan);

auto small_plan(const bench_folder& folder, std::int64_t cycle, std::int64_t parallelism) {
  fixed_length_options whole{.record_bytes = static_cast<std::int64_t>(kSmallBytes)};
  auto one = [whole](const std::string& path) { return fixed_length(path, whole); };
  return list_files(folder.path("small/*")) | interleave(one, {.cycle_length = cycle, .parallelism = parallelism});
}

void io_small_files(report& r) {
  bench_folder folder;
  const std::vector<std::string> paths = small_files(folder);
  auto loop = cold(paths, by_wall([&] { return small_files_by_loop(paths, kSmallBytes); }));
  auto ring = cold(paths, by_wall([&] { return small_files_by_ring(paths, kSmallBytes, 128); }));
  auto ours = [&](std::int64_t cycle, std::int64_t parallelism, runtime& rt) {
    return cold(paths, reading(reading_small, small_plan(folder, cycle, parallelism), rt));
  };
  beside_several c = compare_several(ours(64, 64, all_workers()), {loop, ring}, kIoPairs);
  r.at_least("20,000 x 16 KiB, cold, 64 in parallel", "open, read, close in a loop", samples(c.each[0]), 3,
             "times as fast");
  r.at_least("20,000 x 16 KiB, cold, 64 in parallel", "ring, linked chains, 128 deep", samples(c.each[1]), 0.85,
             "of its speed");
  c = compare_several(ours(16, 1, all_workers()), {loop}, kIoPairs);
  r.at_least("20,000 x 16 KiB, cold, by turns, no parallelism", "open, read, close in a loop", samples(c.each[0]), 1,
             "times as fast");
  c = compare_several(ours(64, 64, threads_only()), {ours(64, 64, all_workers())}, kIoPairs);
  r.at_least("20,000 x 16 KiB, cold, threads", "the same on the ring", samples(c.each[0]), 0.5, "of its speed");
}
SLUICE_BENCH(io_small_files);

void io_threads(report& r) {
  bench_folder folder;
  const std::string path = scanned_file(folder);
  comparison c = compare(reading(reading_records, tfrecord(path), threads_only()),
                         reading(reading_records, tfrecord(path), all_workers()), kIoPairs);
  r.at_least("hot scan, threads", "the same on the ring", c.speedup(), 0.9, "of its speed");
}
SLUICE_BENCH(io_threads);

task<> reading_at_random(file& from, const std::vector<std::uint64_t>& offsets, std::size_t& next, std::uint64_t& sum) {
  buffer_ref to(buffer::make(kRandomBytes));
  while (next < offsets.size()) {
    const std::uint64_t at = offsets[next++];
    buffer_ref share = to;
    auto reading = from.read_at(at, std::move(share), 0, kRandomBytes);
    const std::size_t n = co_await reading;
    if (n != kRandomBytes) throw std::runtime_error("a short read");
    sum += digest_of_block(to->data());
  }
}

task<pass> random_pass(std::string path, const std::vector<std::uint64_t>& offsets) {
  environment* env = co_await this_environment();
  open_options how;
  how.cache = page_cache::direct;
  auto opening = files_of(one_worker()).open(std::move(path), how);
  std::unique_ptr<file> from = co_await opening;
  pass p;
  std::size_t next = 0;  // one worker: no two of them at once
  stopwatch watch(timed::wall);
  scope all(*env);
  for (unsigned i = 0; i != kRandomDepth; ++i) all.spawn(reading_at_random(*from, offsets, next, p.answer));
  co_await all.join();
  p.ns = watch.ns();
  co_return p;
}

void io_random(report& r) {
  bench_folder folder;
  const std::string path = folder.write("random", noise(kScannedBytes, 3));
  write_back(path);
  const std::vector<std::string> paths = {path};
  std::vector<std::uint64_t> offsets;
  std::uint64_t x = 4;
  for (std::size_t i = 0; i != kRandomReads; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    offsets.push_back((x >> 33) % (kScannedBytes / kRandomBytes) * kRandomBytes);
  }
  workload ours = cold(paths, [&] { return sync_wait(one_worker(), random_pass(path, offsets)); });
  auto by_ring = [&](unsigned depth) {
    return cold(paths, by_wall([&, depth] { return read_at_random(path, offsets, kRandomBytes, depth); }));
  };
  beside_several c = compare_several(ours, {by_ring(kRandomDepth), by_ring(1)}, kIoPairs);
  r.at_least("4 KiB at random, O_DIRECT, 32 at once", "ring, 32 deep", samples(c.each[0]), 0.9, "of its speed");
  r.at_least("4 KiB at random, O_DIRECT, 32 at once", "one at a time, as an asio file has", samples(c.each[1]), 3.5,
             "times as fast");
}
SLUICE_BENCH(io_random);

constexpr std::int64_t kStreams = 16;
constexpr std::int64_t kOfEach = 400;
constexpr auto kPace = std::chrono::milliseconds(1);
constexpr std::int64_t kStalledBy = 100;  // one stream has a hundredth of the speed

/// Of slow streams the numbers have this bit.
constexpr std::int64_t kSlow = std::int64_t{1} << 32;

task<std::int64_t> paced(std::int64_t x) {
  const bool is_slow = (x & kSlow) != 0;
  co_await sleep_for(is_slow ? kPace * kStalledBy : kPace);
  co_return x;
}
auto paced_streams(std::int64_t slow, order in) {
  auto inner = [slow](std::int64_t i) {
    const std::int64_t mark = i < slow ? kSlow : 0;
    return range(kOfEach) | map([mark](std::int64_t x) { return x | mark; }) | map(paced);
  };
  return range(kStreams) | interleave(inner, {.cycle_length = kStreams, .parallelism = kStreams, .order = in});
}

/// Elements a second of virtual time, of the first `n`.
task<double> speed_of(any_stream s, std::int64_t n) {
  environment* env = co_await this_environment();
  const time_point began = env->time->now();
  std::int64_t have = 0;
  while (have < n) {
    auto b = co_await s.next_block({.elements = 1});
    if (!b) break;
    have += b.size();
  }
  const double seconds = std::chrono::duration<double>(env->time->now() - began).count();
  s.request_stop();
  auto done = cleanup(std::move(s));
  co_await done;
  co_return static_cast<double>(have) / seconds;
}
double simulated_speed(std::int64_t slow, order in, std::int64_t n) {
  simulation world(1);
  runtime rt(world);
  return sync_wait(rt, speed_of(open_run(rt, paced_streams(slow, in).plan(), {}), n));
}

void io_one_slow_stream(report& r) {
  // The fifteen others give 6,000 elements; sixteen equal ones would be faster by a sixteenth, which is no loss of ours.
  const std::int64_t n = (kStreams - 1) * kOfEach * 9 / 10;
  const double others = simulated_speed(0, order::sloppy, n) * static_cast<double>(kStreams - 1) / kStreams;
  r.at_least("16 streams, one at 1 % speed, sloppy", "the fifteen without it, virtual time",
             samples({simulated_speed(1, order::sloppy, n) / others}), 0.95, "of their speed");
  // In order each turn has one element of the slow stream: sixteen in 100 ms.
  const double bound = kStreams / std::chrono::duration<double>(kPace * kStalledBy).count();
  r.at_least("16 streams, one at 1 % speed, in order", "a turn for each of its elements, virtual time",
             samples({simulated_speed(1, order::deterministic, 50 * kStreams) / bound}), 0.9, "of that");
}
SLUICE_BENCH(io_one_slow_stream);

}  // namespace
}  // namespace sluice::lib::bench
