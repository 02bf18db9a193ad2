// SPDX-License-Identifier: Apache-2.0
// What plans of many shapes make a process take, beside their budget: the table of docs/internals/measurements.md.
//
// SLUICE_TEST_LOUD=1 prints it. SLUICE_TEST_BUDGET=large runs each shape eight times as long.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "format/compressed.hpp"
#include "io/temporary_folder.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/sluice.hpp"
#include "support/process_memory.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::memory_table_test {
namespace {

using namespace testing;
using int64 = std::int64_t;

constexpr std::size_t kMiB = 1 << 20;
/// What a process takes that no budget covers: threads, coroutine frames, and the stocks of freed memory that are kept for
/// the next buffer (16 MiB of windows, 16 MiB of slabs, 16 MiB of pages).
constexpr std::size_t kProcessBytes = 48 * kMiB;
/// What users' functions make comes from malloc. glibc keeps freed blocks below a threshold that follows the largest one
/// freed, and twice as much at the top of each thread's heap.
constexpr std::size_t kMallocTimes = 2;

// --- Elements -------------------------------------------------------------------------------------------------------

template <std::size_t Bytes> std::string text(int64 i) { return std::string(Bytes, static_cast<char>('a' + i % 26)); }
template <std::size_t Bytes> task<std::string> fetched(int64 i) {
  co_await sleep_for(std::chrono::milliseconds(1));
  co_return text<Bytes>(i);
}

/// Sizes that change all at once, and again and again: what was learned from small ones is wrong for the large ones.
std::string changing(int64 i) { return std::string(i % 800 < 500 ? 10 : kMiB, 'a'); }
task<std::string> fetched_changing(int64 i) {
  co_await sleep_for(std::chrono::milliseconds(1));
  co_return std::string(i % 100 < 50 ? 10 : 10 * kMiB, 'a');
}

/// Can be moved only, and says what it owns.
struct blob {
  static constexpr std::string_view sluice_name = "blob";
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;
  static std::size_t sluice_footprint(const blob* p, std::size_t n) {
    std::size_t all = 0;
    for (std::size_t i = 0; i != n; ++i) all += p[i].size;
    return all;
  }
};
blob make_blob(int64 i) {
  blob b;
  b.size = 4 * kMiB;
  b.bytes = std::make_unique_for_overwrite<char[]>(b.size);
  std::memset(b.bytes.get(), static_cast<int>(i), b.size);
  return b;
}

/// A megabyte by value.
using image = std::array<std::uint8_t, kMiB>;
image make_image(int64 i) {
  image made;
  made.fill(static_cast<std::uint8_t>(i));
  return made;
}

stream<std::string> large_texts() {
  for (int64 i = 0;; ++i) co_yield text<10 * kMiB>(i);
}

using sample = std::array<std::uint8_t, 1024>;
sample make_sample(int64 i) {
  sample made;
  made.fill(static_cast<std::uint8_t>(i));
  return made;
}

// --- Shapes ---------------------------------------------------------------------------------------------------------

struct figures {
  std::size_t peak_bytes = 0;    ///< of the process
  std::size_t ledger_bytes = 0;  ///< at most charged
  std::size_t count = 0;
  status_code code = status_code::ok;
};

/// A consumer slower than what works ahead of it.
template <class T> task<void> consume(stream<T> s, std::size_t most, figures& f) {
  while (f.count != most) {
    auto x = co_await s.try_next();
    f.code = x.why.code();
    if (!x) break;
    if (++f.count % 4 == 1) co_await sleep_for(std::chrono::milliseconds(1));
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

/// What a resumed shuffle's process takes beyond what its ledger charges: threads, frames, a block in the making.
constexpr std::size_t kResumedProcessBytes = 16 * kMiB;

struct shape {
  const char* name;
  std::size_t budget_bytes;
  /// By how much elements or windows that are waited for may exceed the budget.
  std::size_t alone_bytes;
  /// One element, where malloc made it.
  std::size_t malloc_bytes;
  std::size_t elements;
  bool refused;  ///< it cannot fit
  std::function<void(runtime&, const checkpoint& from, std::size_t elements, figures&)> run;
  std::function<checkpoint()> place;  ///< of a run that is resumed
};

template <class T>
shape of(const char* name, std::size_t budget, std::size_t alone, std::size_t elements, dataset<T> ds,
         std::size_t made_by_malloc = 0) {
  shape s{name, budget, alone, made_by_malloc, elements, false, {}, {}};
  s.run = [ds](runtime& rt, const checkpoint& from, std::size_t most, figures& f) {
    sync_wait(rt, consume(ds.iterate(rt, {.from = from}), most, f));
  };
  return s;
}
struct saved_place {
  std::size_t peak_bytes = 0;
  std::size_t size = 0;
  char bytes[4096];
};
template <class T> task<void> take_place(stream<T> s, std::uint64_t taken, saved_place& told) {
  test::tree_of(s).pass_over(taken - 1);
  auto x = co_await s.try_next();
  if (!x) co_await fail(x.why);
  std::string bytes = s.position().bytes;
  told.size = bytes.copy(told.bytes, sizeof told.bytes);
}
/// Goes on behind `taken` elements of a run that was a process of its own: nothing of it is left in this one.
template <class T>
shape resumed(const char* name, std::size_t budget, std::size_t elements, dataset<T> ds, std::uint64_t taken) {
  shape s = of(name, budget, 0, elements, ds);
  s.place = [ds, budget, taken] {
    auto got = in_own_process<saved_place>([&] {
      saved_place told;
      runtime rt({.workers = 1, .memory_budget_bytes = budget});
      sync_wait(rt, take_place(ds.iterate(rt), taken, told));
      return told;
    });
    checkpoint c;
    c.bytes.assign(got.bytes, got.size);
    return c;
  };
  return s;
}
template <class T> shape refusal(const char* name, std::size_t budget, std::size_t alone, dataset<T> ds) {
  shape s = of(name, budget, alone, ~std::size_t{0}, std::move(ds));
  s.refused = true;
  return s;
}

struct inputs {
  temporary_folder folder;
  std::string large, medium, small;
  std::vector<std::string> many, many_gz, growing_gz;

  inputs() {
    large = folder.write("large", file_of(12, 10 * kMiB));
    medium = folder.write("medium", file_of(200, 100'000));
    small = folder.write("small", file_of(200'000, 100));
    std::string plain = file_of(300, 1000), packed = gzipped(plain), one = gzipped(file_of(3, 300));
    for (int i = 0; i != 1000; ++i) {
      std::string n = std::to_string(i);
      many.push_back(folder.write("many/" + n, plain));
      many_gz.push_back(folder.write("few-gz/" + n, one));
      growing_gz.push_back(folder.write("long-gz/" + n, packed));
    }
  }
};

std::vector<shape> shapes(const inputs& in) {
  const auto sloppy = order::sloppy;
  auto large_inner = [](int64) { return range(16) | map(text<10 * kMiB>, {.parallelism = 64}); };
  auto large_outer = [](int64) { return range(16) | map(text<10 * kMiB>); };
  auto shuffled_inner = [](int64) { return range(8) | map(text<kMiB>) | shuffle(4, {.seed = 1}); };
  std::vector<std::string> copies(32, in.medium);
  return {
      of("map of 10 MiB strings, 64 at once", 64 * kMiB, 10 * kMiB, 60,
         range(1'000) | map(text<10 * kMiB>, {.parallelism = 64}), 10 * kMiB),
      of("the same at a budget of 16 MiB", 16 * kMiB, 20 * kMiB, 40,
         range(1'000) | map(text<10 * kMiB>, {.parallelism = 64}), 10 * kMiB),
      of("the same, sloppy", 64 * kMiB, 10 * kMiB, 60,
         range(1'000) | map(text<10 * kMiB>, {.parallelism = 64, .order = sloppy}), 10 * kMiB),
      of("64 awaited calls that give 10 MiB", 64 * kMiB, 10 * kMiB, 60,
         range(1'000) | map(fetched<10 * kMiB>, {.parallelism = 64}), 10 * kMiB),
      of("interleave of 64 maps of 10 MiB, 64 at once", 64 * kMiB, 20 * kMiB, 60,
         range(64) | interleave(large_inner, {.cycle_length = 64}), 10 * kMiB),
      of("parallel interleave of 64 maps of 10 MiB", 64 * kMiB, 20 * kMiB, 60,
         range(64) | interleave(large_outer, {.cycle_length = 64, .parallelism = 64}), 10 * kMiB),
      of("both parallel", 64 * kMiB, 30 * kMiB, 60,
         range(64) | interleave(large_inner, {.cycle_length = 64, .parallelism = 64}), 10 * kMiB),
      of("sloppy interleave of 64 maps of 10 MiB", 64 * kMiB, 20 * kMiB, 60,
         range(64) | interleave(large_outer, {.cycle_length = 64, .parallelism = 64, .order = sloppy}), 10 * kMiB),
      of("a user's coroutine that gives 10 MiB, prefetch", 64 * kMiB, 20 * kMiB, 40,
         generate(large_texts) | prefetch(100), 10 * kMiB),
      of("10 MiB records, prefetch(1000)", 64 * kMiB, 20 * kMiB, 60, tfrecord(in.large) | repeat() | prefetch(1000)),
      of("32 files of 100 KB records, in parallel", 32 * kMiB, 4 * kMiB, 2'000,
         from_elements(copies) | interleave(tfrecord, {.cycle_length = 32, .parallelism = 32}) |
             map(text_of, {.parallelism = 32}) | prefetch(10'000)),
      of("move-only 4 MiB, 16 at once", 32 * kMiB, 4 * kMiB, 60, range(1'000) | map(make_blob, {.parallelism = 16}),
         4 * kMiB),
      of("structs of 1 MiB, 64 at once", 32 * kMiB, 2 * kMiB, 120, range(1'000) | map(make_image, {.parallelism = 64})),
      of("1 MiB strings through three prefetches", 16 * kMiB, 4 * kMiB, 120,
         range(1'000) | map(text<kMiB>) | prefetch(100) | prefetch(100) | prefetch(100)),
      // Made on one thread and freed on another, with small ones in between that pin the pages around them.
      of("10 B, then 1 MiB, and again: map, prefetch", 64 * kMiB, 24 * kMiB, 2'000,
         range(4'000) | map(changing) | prefetch(4000), 8 * kMiB),
      of("the same, 8 at once", 64 * kMiB, 32 * kMiB, 2'000,
         range(4'000) | map(changing, {.parallelism = 8}) | prefetch(4000), kMiB),
      of("the same, 8 at once, sloppy", 64 * kMiB, 32 * kMiB, 2'000,
         range(4'000) | map(changing, {.parallelism = 8, .order = sloppy}), kMiB),
      of("the same in a parallel interleave of 16", 64 * kMiB, 24 * kMiB, 16'000,
         range(16) |
             interleave([](int64) { return range(4'000) | map(changing); }, {.cycle_length = 16, .parallelism = 16}),
         kMiB),
      of("10 B, then 10 MiB, and again: 16 awaited calls", 64 * kMiB, 100 * kMiB, 400,
         range(400) | map(fetched_changing, {.parallelism = 16}), 10 * kMiB),
      of("batches of 8 MiB, prefetch", 48 * kMiB, 16 * kMiB, 12,
         range(10'000) | map(text<kMiB>, {.parallelism = 8}) | batch(8) | prefetch(100)),
      of("shuffle of 200,000 small records", 64 * kMiB, kMiB, 20'000,
         tfrecord(in.small) | repeat() | shuffle(200'000, {.seed = 1})),
      of("unique of 2,000,000 numbers, by files", 8 * kMiB, kMiB, 40, range(2'000'000) | unique() | batch(50'000)),
      of("1,000 plain files open", 8 * kMiB, 32 * kMiB, 4'000,
         from_elements(in.many) | interleave(tfrecord, {.cycle_length = 1000})),
      of("1,000 small gzip files open", 8 * kMiB, 32 * kMiB, 3'000,
         from_elements(in.many_gz) | interleave(tfrecord, {.cycle_length = 1000})),
      resumed("resumed: shuffle of 800,000 numbers", 16 * kMiB, 10'000,
              range(1'000'000'000) | shuffle(800'000, {.seed = 1}), 2'000'000),
      resumed("resumed: the same, while it empties", 16 * kMiB, 10'000,
              range(2'000'000) | shuffle(800'000, {.seed = 1}), 1'800'000),
      resumed("resumed: shuffle of 8,000 structs of 1 KiB", 16 * kMiB, 10'000,
              range(1'000'000'000) | map(make_sample) | shuffle(8'000, {.seed = 1}), 50'000),
      resumed("resumed: shuffle of 200,000 short strings", 16 * kMiB, 10'000,
              range(1'000'000'000) | map(text<10>) | shuffle(200'000, {.seed = 1}), 500'000),
      resumed("resumed: shuffle of 10,000 strings of 1,200 bytes", 16 * kMiB, 10'000,
              range(1'000'000'000) | map(text<1200>) | shuffle(10'000, {.seed = 1}), 50'000),
      refusal("64 inner shuffles of 4 MiB", 16 * kMiB, 4 * kMiB,
              range(64) | interleave(shuffled_inner, {.cycle_length = 64})),
      refusal("1,000 gzip files open, not read to their end", 8 * kMiB, 32 * kMiB,
              from_elements(in.growing_gz) | interleave(tfrecord, {.cycle_length = 1000})),
      refusal("map of 1 MiB, shuffle of 1,000", 32 * kMiB, 4 * kMiB,
              range(2'000) | map(text<kMiB>) | shuffle(1000, {.seed = 1})),
      refusal("map of 1 MiB, batch of 1,000", 32 * kMiB, 4 * kMiB, range(2'000) | map(text<kMiB>) | batch(1000)),
      refusal("two shuffles that fit one by one", 32 * kMiB, 4 * kMiB,
              range(100) | map(text<kMiB>) | shuffle(20, {.seed = 1}) | shuffle(20, {.seed = 2})),
  };
}

double mib(std::size_t bytes) { return static_cast<double>(bytes) / kMiB; }

}  // namespace

TEST_CASE("a process stays at its budget, for any shape of its plan", "[memory]") {
  inputs in;
  const bool loud = std::getenv("SLUICE_TEST_LOUD") != nullptr;
  const char* length = std::getenv("SLUICE_TEST_BUDGET");
  const std::size_t times = length && std::string_view(length) == "large" ? 16 : 1;
  const char* only = std::getenv("SLUICE_TEST_SHAPE");
  if (loud)
    std::printf(
        "| shape | budget | ledger, workers 1 / 2 | process, workers 1 / 2 | allowed | |\n|---|---|---|---|---|---|\n");
  for (const shape& s : shapes(in)) {
    if (only && !std::strstr(s.name, only)) continue;
    // Under a sanitizer only the ledger is looked at, and large elements are slow.
    std::size_t most = s.elements == ~std::size_t{0} ? s.elements : s.elements * times / (kSanitized ? 16 : 2);
    const checkpoint from = s.place ? s.place() : checkpoint();
    figures got[2];
    std::size_t allowed = 0;
    for (unsigned workers : {1u, 2u}) {
      allowed = s.budget_bytes + s.alone_bytes + kProcessBytes + kMallocTimes * workers * s.malloc_bytes;
      figures f = in_own_process<figures>([&] {
        figures told;
        runtime rt({.workers = workers, .memory_budget_bytes = s.budget_bytes});
        s.run(rt, from, most, told);
        told.ledger_bytes = rt.ledger().report().peak_bytes;
        return told;
      });
      got[workers - 1] = f;
      CAPTURE(s.name, workers, mib(s.budget_bytes), mib(f.ledger_bytes), mib(f.peak_bytes), f.count);
      CHECK(f.code == (s.refused ? status_code::resource_exhausted : status_code::ok));
      CHECK((s.refused || f.count == most));
      CHECK(f.ledger_bytes <= s.budget_bytes + s.alone_bytes);
      if (s.place) allowed = f.ledger_bytes + kResumedProcessBytes;
      CHECK((f.peak_bytes <= allowed || kSanitized));
    }
    if (loud)
      std::printf("| %s | %.0f | %.1f / %.1f | %.1f / %.1f | %.0f | %s |\n", s.name, mib(s.budget_bytes),
                  mib(got[0].ledger_bytes), mib(got[1].ledger_bytes), mib(got[0].peak_bytes), mib(got[1].peak_bytes),
                  mib(allowed), s.refused ? "refused" : "");
    std::fflush(stdout);
  }
}

}  // namespace sluice::lib::memory_table_test
