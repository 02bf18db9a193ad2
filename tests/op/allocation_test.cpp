// SPDX-License-Identifier: Apache-2.0
// Once a run is under way, elements cost no allocation.
//
// Not under sanitizers: they come with an operator new of their own, which ours would meet when the program is linked.
#include "support/sanitizers.hpp"
#ifndef SLUICE_TEST_SANITIZED
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <malloc.h>

#include <catch2/catch.hpp>

#include "engine/lowering/open_context.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/format/example.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib {
namespace {

using int64 = std::int64_t;

std::atomic<std::uint64_t> allocations{0};
/// The usable bytes of the allocations that exist. A difference of two moments is right on one thread.
std::atomic<int64> live_bytes{0};
void* counted(void* p) noexcept {
  if (p) live_bytes.fetch_add(static_cast<int64>(malloc_usable_size(p)), std::memory_order_relaxed);
  return p;
}
void free_counted(void* p) noexcept {
  if (p) live_bytes.fetch_sub(static_cast<int64>(malloc_usable_size(p)), std::memory_order_relaxed);
  std::free(p);
}

/// Allocations of at least so many bytes fail, once so many of them have been made.
std::atomic<std::size_t> refused_bytes{~std::size_t{0}};
std::atomic<int64> allowed{0};
bool is_refused(std::size_t bytes) {
  if (bytes < refused_bytes.load(std::memory_order_relaxed)) return false;
  return allowed.fetch_sub(1, std::memory_order_relaxed) <= 0;
}
class scoped_refusal {
 public:
  scoped_refusal(std::size_t bytes, int64 behind) {
    allowed = behind;
    refused_bytes = bytes;
  }
  ~scoped_refusal() { refused_bytes = ~std::size_t{0}; }
};

stream<int64> plus_one(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 element = *x;
    co_yield element + 1;
  }
}

struct sample {
  std::string text;  // short: kept inside the string, so that making one costs none
  int64 label = 0;
  std::array<float, 4> v{};
  std::optional<double> weight;
};
sample make_sample(int64 x) {
  sample s;
  s.text.assign(static_cast<std::size_t>(x % 15), 'a');
  s.label = x;
  if (x % 3 == 0) s.weight = 0.5;
  return s;
}

/// How many allocations `count` batches cost, after as many to warm up; the consumer drops each when it takes the next.
task<std::uint64_t> allocations_of_batches(runtime& rt, dataset<batched<sample>> ds, int count) {
  auto s = ds.iterate(rt);
  std::uint64_t before = 0, texts = 0;
  for (int i = 0; i != 2 * count; ++i) {
    if (i == count) before = allocations.load();
    auto b = co_await s.next();
    for (std::string_view text : (*b)[&sample::text]) texts += text.size();
  }
  std::uint64_t after = allocations.load();
  if (texts == 42) before = 0;
  co_return after - before;
}

/// The same of rows that were in batches.
task<std::uint64_t> allocations_of_rows(runtime& rt, dataset<sample> ds, int count) {
  auto s = ds.iterate(rt);
  std::uint64_t before = 0;
  int64 sum = 0;
  for (int i = 0; i != 2 * count; ++i) {
    if (i == count) before = allocations.load();
    auto x = co_await s.next();
    sum += x->label;
  }
  std::uint64_t after = allocations.load();
  if (sum == 42) before = 0;
  co_return after - before;
}

struct example_row {
  std::string text;
  int64 label = 0;
  std::array<float, 16> values{};
};

/// A file of examples of about 165 bytes; or of 140 to 180.
std::string file_of_examples(int records, bool of_one_size) {
  std::string bytes;
  example_writer w;
  float values[16] = {};
  for (int i = 0; i != records; ++i) {
    values[i % 16] = static_cast<float>(i);
    std::string text(static_cast<std::size_t>(30 + (of_one_size ? 15 : i * 7 % 31)), 'a');
    append_tfrecord(bytes, w.bytes("text", text).int64("label", i).floats("values", values, 16).finish());
  }
  return bytes;
}

/// What a server or a training loop does all day.
dataset<batched<example_row>> main_job(const std::vector<std::string>& files, int64 parallelism) {
  return from_elements(files) | interleave(tfrecord, {.cycle_length = 4}) | shuffle(5'000, {.seed = 7}) | batch(128) |
         parse_example<example_row>({.parallelism = parallelism});
}

/// Stands still, so that no mark is due: those come by the clock, and allocate what a position takes.
class stopped_clock final : public clock {
 public:
  time_point now() const noexcept override { return {}; }
  void arm(timer_node&) noexcept override {}
  bool cancel(timer_node&) noexcept override { return true; }
};

/// How many allocations a round of `count` batches of the main job costs: the first round of at most `limit`, after two to
/// warm up, or the twelfth.
task<std::uint64_t> allocations_of_main_job(runtime& rt, dataset<batched<example_row>> ds, int count,
                                            std::uint64_t limit) {
  stopped_clock still;
  auto run = rt.new_run();
  run->time = &still;
  stream<batched<example_row>> s(open_context(run).open(ds.plan()));
  int64 sum = 0;
  std::uint64_t made = 0;
  // Between two workers, freed buffers gather with the one that drops them, which keeps up to 256 KiB of one size; when
  // they change roles, the other one gathers as many. Both have theirs after a few rounds, if nothing else allocates.
  for (int round = 0; round != 12; ++round) {
    std::uint64_t before = allocations.load();
    for (int i = 0; i != count; ++i) {
      auto b = co_await s.next();
      for (int64 label : (*b)[&example_row::label]) sum += label;
      for (std::string_view text : (*b)[&example_row::text]) sum += static_cast<int64>(text.size());
    }
    made = allocations.load() - before;
    if (round >= 2 && made <= limit) break;  // the first two warm up
  }
  co_return sum == 42 ? 0 : made;
}

task<> first_of_each(std::vector<stream<batched<int64>>>& all, int from) {
  for (auto& s : all | std::views::drop(from)) {
    auto x = co_await s.next();
    if (!x || x->rows()[0] != 2) throw std::runtime_error("another first element");
  }
}

/// How many allocations 200,000 elements cost, after as many to warm up.
task<std::uint64_t> allocations_per_200k(runtime& rt, dataset<int64> ds) {
  constexpr int kElements = 200'000;
  auto s = ds.iterate(rt);
  std::uint64_t before = 0;
  int64 sum = 0;
  for (int i = 0; i != 2 * kElements; ++i) {
    if (i == kElements) before = allocations.load();
    auto x = co_await s.next();
    sum += *x;
  }
  std::uint64_t after = allocations.load();
  if (sum == 42) before = 0;  // the elements are looked at
  co_return after - before;
}

}  // namespace
}  // namespace sluice::lib

// They only count, and replace the global ones in this test program. Inlined, g++ takes new and free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  sluice::lib::allocations.fetch_add(1, std::memory_order_relaxed);
  if (sluice::lib::is_refused(size)) throw std::bad_alloc();
  if (void* p = sluice::lib::counted(std::malloc(size ? size : 1))) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  sluice::lib::allocations.fetch_add(1, std::memory_order_relaxed);
  return sluice::lib::is_refused(size) ? nullptr : sluice::lib::counted(std::malloc(size ? size : 1));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  sluice::lib::allocations.fetch_add(1, std::memory_order_relaxed);
  if (sluice::lib::is_refused(size)) throw std::bad_alloc();
  auto align = static_cast<std::size_t>(alignment);
  if (void* p = sluice::lib::counted(std::aligned_alloc(align, (size + align - 1) / align * align))) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { sluice::lib::free_counted(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  sluice::lib::free_counted(p);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { sluice::lib::free_counted(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { sluice::lib::free_counted(p); }

namespace sluice::lib {

// Some allocations belong to the time that passes (a busy machine lets more of it pass), none to the elements.
constexpr std::uint64_t kByTime = 100;
/// Of a stream of five stages; glibc makes them a few per cent more than are requested.
constexpr int64 kIdleBytesMax = 8192, kBegunBytesMax = 8800;

TEST_CASE("an idle stream of five stages holds few bytes, before its first element and after it") {
  runtime rt({.workers = 1});
  auto ds = range(1000) | map([](int64 x) { return x + 1; }) | filter([](int64 x) { return x % 2 == 0; }) | take(100) |
            batch(10);
  // The frames of closed streams are kept for the next ones, at most 1,024 of each size.
  constexpr int kFirst = 1100, kMeasured = 100;
  std::vector<decltype(ds.iterate(rt))> idle;
  idle.reserve(kFirst + kMeasured);
  for (int i = 0; i != kFirst; ++i) idle.push_back(ds.iterate(rt));
  int64 before = live_bytes.load();
  for (int i = 0; i != kMeasured; ++i) idle.push_back(ds.iterate(rt));
  const int64 opened = (live_bytes.load() - before) / kMeasured;
  before = live_bytes.load();
  sync_wait(rt, first_of_each(idle, kFirst));
  const int64 begun = opened + (live_bytes.load() - before) / kMeasured;
  INFO(opened << " bytes before the first element, " << begun << " after the first batch");
  CHECK(opened <= kIdleBytesMax);
  CHECK(begun <= kBegunBytesMax);
}

TEST_CASE("range, map, filter and map allocate nothing per element") {
  runtime rt({.workers = 1});
  auto ds = range(1'000'000'000) | map([](int64 x) { return x * 3; }) | filter([](int64 x) { return x % 2 == 0; }) |
            map([](int64 x) { return x + 1; });
  CHECK(sync_wait(rt, allocations_per_200k(rt, ds)) <= kByTime);
}

TEST_CASE("a user's stage allocates nothing per element") {
  runtime rt({.workers = 1});
  auto ds = range(1'000'000'000) | transform([](stream<int64> s) { return plus_one(stateless(), std::move(s)); });
  CHECK(sync_wait(rt, allocations_per_200k(rt, ds)) <= kByTime);
}

TEST_CASE("batches allocate nothing per row, and nothing per batch once their memory is recycled") {
  runtime rt({.workers = 1});
  auto rows = range(1'000'000'000) | map(make_sample);
  for (int64 size : {10, 64, 1000}) {
    CAPTURE(size);
    int count = static_cast<int>(100'000 / size);
    CHECK(sync_wait(rt, allocations_of_batches(rt, rows | batch(size), count)) <= 10);
  }
  // 200 batches; the runtime may allocate a few times on its own.
  CHECK(sync_wait(rt, allocations_of_rows(rt, rows | batch(100) | unbatch(), 20'000)) <= 25);
}

TEST_CASE("the main job allocates nothing per record, and nothing per batch") {
  constexpr int kRecords = 60'000, kBatches = 300;  // 38,400 of them counted in a round
  for (bool of_one_size : {true, false}) {
    testing::temporary_folder folder;
    std::vector<std::string> files;
    std::string bytes = file_of_examples(kRecords, of_one_size);
    for (int i = 0; i != 8; ++i) files.push_back(folder.write("part-" + std::to_string(i), bytes));
    CAPTURE(of_one_size);
    // Of several sizes, now and then the shuffle has more records of one than ever before.
    const std::uint64_t limit = of_one_size ? 10 : kBatches * 128 / 250;
    {
      runtime rt({.workers = 1});
      CHECK(sync_wait(rt, allocations_of_main_job(rt, main_job(files, 1), kBatches, limit)) <= limit);
    }
    {  // a record at a time, which writes the rows of the batch behind it
      auto one_by_one = from_elements(files) | interleave(tfrecord, {.cycle_length = 4}) | shuffle(5'000, {.seed = 7}) |
                        parse_example<example_row>() | batch(128);
      runtime rt({.workers = 1});
      CHECK(sync_wait(rt, allocations_of_main_job(rt, one_by_one, kBatches, limit)) <= limit);
    }
    runtime rt({.workers = 2});
    const std::uint64_t in_flight = kBatches * 128 / 100;  // more batches are on their way
    CHECK(sync_wait(rt, allocations_of_main_job(rt, main_job(files, 2) | prefetch(2), kBatches, in_flight)) <=
          in_flight);
  }
}

namespace {

/// A run of the plan in which the large allocations fail behind the first `behind`.
task<std::optional<status>> run_without_memory(runtime& rt, dataset<int64> ds, std::size_t bytes, int64 behind) {
  auto s = ds.iterate(rt);
  scoped_refusal refusing(bytes, behind);
  for (;;) {
    auto got = co_await s.try_next();
    if (!got.element) co_return got.why;
  }
}

}  // namespace

TEST_CASE("an allocation that fails in a stage ends the run with resource_exhausted, which names the stage") {
  for (const char* plan :
       {"range(20000) | group_by_reducer(it, 0, state + it)", "range(20000) | unique",
        "range(20000) | unique(spill=\"off\")", "range(20000) | group_by_window(it, batch(10), 10) | unbatch",
        "range(20000) | group_by_window(it, batch(10), window_size_func=key + 2) | unbatch",
        "range(20000) | shuffle(20000)", "range(20000) | batch(300) | rebatch(20000) | unbatch",
        "range(20000) | window(5000) | map(length(it))", "range(20000) | window_batch(5000) | map(length(it))",
        "range(20000) | map([it, it]) | padded_batch(5000) | map(length(it))",
        "range(20000) | map([it, it]) | ragged_batch(5000) | map(length(it))",
        "range(20000) | map([it, it]) | sparse_batch(5000, [2]) | map(length(it.values))",
        "range(20000) | batch_by_bytes(40000) | map(length(it))",
        "range(20000) | map([it, it]) | bucket_by_sequence_length(length(it), [2], [5000, 5000]) | map(length(it))",
        "range(20000) | map([it, it]) | pack_sequences(5000) | map(length(it.tokens))",
        "range(20000) | batch(5000) | global_shuffle(seed=1) | unbatch"}) {
    INFO(plan);
    dataset<int64> ds(parse_plan(plan));
    int refused = 0;
    for (int64 behind = 0; behind != 40; ++behind) {
      INFO(behind << " large allocations succeed");
      buffer::trim();  // buffers of runs before this one are not allocated again
      runtime rt({.workers = 1});
      const status why = sync_wait(rt, run_without_memory(rt, ds, 8192, behind)).value();
      if (why.ok()) break;
      ++refused;
      INFO(why.to_string());
      CHECK(why.code() == status_code::resource_exhausted);
      // shuffle fills its buffer by a task, which has no name.
      CHECK((!why.where().stage.empty() || std::string_view(plan).find("shuffle") != std::string_view::npos));
    }
    CHECK(refused != 0);
  }
}

}  // namespace sluice::lib
#endif  // SLUICE_TEST_SANITIZED
