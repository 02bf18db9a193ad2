// SPDX-License-Identifier: Apache-2.0
// The memory budget holds, and a small one stops nobody.
#include <string>
#include <vector>

#include <asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/asio.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/process_memory.hpp"

namespace sluice::lib::memory_test {
namespace {

using namespace testing;
using Catch::Contains;
using int64 = std::int64_t;

constexpr std::size_t kMiB = 1 << 20;
/// What may be taken beyond the budget so that everybody can go on (docs/internals/decisions/memory_budget.md).
constexpr std::size_t kOverdraft = 32 * kMiB;

/// A consumer so slow that everybody ahead of it works as far ahead as they may.
template <class T> task<void> count_slowly(stream<T> s, std::size_t& count, status& why) {
  for (;;) {
    auto x = co_await s.try_next();
    why = x.why;
    if (!x) break;
    if (++count % 16 == 1) co_await sleep_for(std::chrono::milliseconds(2));
  }
  auto end = cleanup(std::move(s));
  co_await end;
}

dataset<std::string> greedy(std::vector<std::string> files, int64 parallelism) {
  return from_elements(std::move(files)) |
         interleave(tfrecord, {.cycle_length = parallelism, .parallelism = parallelism}) |
         map(text_of, {.parallelism = parallelism}) | prefetch(10'000);
}

}  // namespace

// --- The budget -----------------------------------------------------------------------------------------------------

TEST_CASE("all work ahead keeps to the budget and the overdraft, and everything is released") {
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    file_world w(seed, 16 * kMiB);
    w.world.decide_sharing([] { return true; });
    std::string bytes = file_of(60, 100'000);
    for (const std::string& n : names(12)) w.files->put(n, bytes);
    std::size_t count = 0;
    status why;
    sync_wait(w.rt, count_slowly(greedy(names(12), 12).iterate(w.rt), count, why));
    ledger_report r = w.rt.ledger().report();
    CAPTURE(seed, why.to_string(), r.to_string());
    CHECK(why.ok());
    CHECK(count == 12 * 60);
    CHECK(r.peak_bytes > 12 * kMiB);  // it did work ahead
    CHECK(r.peak_bytes <= 16 * kMiB + kOverdraft);
    CHECK(r.used_bytes == 0);
    for (std::size_t bytes_left : r.by_purpose) CHECK(bytes_left == 0);
  }
}

namespace {

struct taken_bytes {
  std::size_t peak_bytes = 0;
  bool good = false;
};
/// What `run(rt)` makes a process of its own take. Bytes; 0: it failed.
template <class F> std::size_t most_memory_of(std::size_t budget, F run) {
  auto got = in_own_process<taken_bytes>([&] {
    taken_bytes told;
    runtime rt({.workers = 2, .memory_budget_bytes = budget});
    told.good = run(rt);
    return told;
  });
  return got.good ? got.peak_bytes : 0;
}

template <class T> task<void> drain(stream<T> s, status& why) {
  for (;;) {
    auto x = co_await s.try_next();
    why = x.why;
    if (!x) break;
  }
}

}  // namespace

TEST_CASE("a process stays within 64 MiB of the budget, with any parallelism") {
  temporary_folder folder;
  std::string path = folder.write("a.tfrecord", file_of(200, 150'000));
  for (int64 parallelism : {4, 32}) {
    std::size_t most = most_memory_of(32 * kMiB, [&](runtime& rt) {
      std::size_t count = 0;
      status why;
      sync_wait(rt, count_slowly(greedy(std::vector<std::string>(32, path), parallelism).iterate(rt), count, why));
      return why.ok() && count == 32 * 200;
    });
    CAPTURE(parallelism, most);
    CHECK(most > 0);
    CHECK((most <= 96 * kMiB || kSanitized));
  }
}

TEST_CASE("a process stays within 64 MiB of the budget, whatever its stages hold") {
  temporary_folder folder;
  std::string path = folder.write("a.tfrecord", file_of(400'000, 100));
  auto check = [](const auto& ds) {
    std::size_t most = most_memory_of(64 * kMiB, [&](runtime& rt) {
      status why;
      sync_wait(rt, drain(ds.iterate(rt), why));
      return why.ok() || why.code() == status_code::resource_exhausted;
    });
    CAPTURE(plan_text(*ds.plan()), most);
    CHECK(most > 24 * kMiB);
    CHECK((most <= 128 * kMiB || kSanitized));
  };
  check(tfrecord(path) | shuffle(200'000, {.seed = 1}));
  check(tfrecord(path) | shuffle(1'000'000, {.seed = 1}));  // refused on the way
  check(range(5'000'000) | shuffle(2'500'000, {.seed = 1}));
  check(range(50'000'000) | shuffle(50'000'000, {.seed = 1}));
  check(range(7'000'000) | batch(7'000'000));
  check(range(50'000'000) | batch(50'000'000));
  check(tfrecord(path) | map(text_of) | batch(250'000));
}

TEST_CASE("a budget that is far too small stops no run") {
  for (std::size_t budget : {std::size_t{1}, std::size_t{64} << 10, kMiB}) {
    for (std::uint64_t seed = 1; seed != 6; ++seed) {
      file_world w(seed, budget);
      std::string bytes = file_of(50, 3000);
      for (const std::string& n : names(6)) w.files->put(n, bytes);
      std::vector<dataset<std::string>> plans = {
          greedy(names(6), 4),
          from_elements(names(6)) | interleave(tfrecord, {.cycle_length = 3, .parallelism = 2}) | map(text_of) |
              prefetch(2),
          from_elements(names(6)) |
              interleave(tfrecord, {.cycle_length = 6, .parallelism = 6, .order = order::sloppy}) |
              map(text_of, {.parallelism = 4, .order = order::sloppy}) | prefetch(3) | prefetch(3),
      };
      for (const auto& ds : plans) {
        std::size_t count = 0;
        status why;
        sync_wait(w.rt, count_slowly(ds.iterate(w.rt), count, why));
        CAPTURE(seed, budget, plan_text(*ds.plan()), why.to_string());
        CHECK(why.ok());
        CHECK(count == 6 * 50);
        CHECK(w.rt.ledger().used_bytes() == 0);
      }
    }
  }
}

namespace {

std::size_t made = 0, taken = 0, most = 0;
std::string large(int64) {
  most = std::max(most, ++made - taken);
  return std::string(64 << 10, 'x');
}
task<void> take_slowly(stream<std::string> s) {
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    ++taken;
    co_await sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("the results of a function count, not only its arguments") {
  for (auto order : {order::deterministic, order::sloppy}) {
    made = taken = most = 0;
    file_world w(1, 4 * kMiB);
    auto ds = range(3000) | map(large, {.parallelism = 8, .order = order});
    sync_wait(w.rt, take_slowly(ds.iterate(w.rt)));
    CHECK(taken == 3000);
    CHECK(most * (64 << 10) <= 4 * kMiB + kOverdraft);
    CHECK(w.rt.ledger().report().peak_bytes >= 6 * (64 << 10));  // the ledger knew of them
    CHECK(w.rt.ledger().used_bytes() == 0);
  }
}

TEST_CASE("a shuffle larger than the budget ends with an error with advice") {
  file_world w(1, 2 * kMiB);
  w.files->put("a", file_of(1000, 10'000));
  outcome got = run(w.rt, tfrecord("a") | shuffle(1000, {.seed = 1}));
  CAPTURE(got.message());
  CHECK(got.why.code() == status_code::resource_exhausted);
  CHECK(got.why.where().stage == "shuffle");
  CHECK_THAT(got.message(), Contains("lower buffer_size"));
  CHECK_THAT(got.message(), Contains("the buffer alone takes more than the memory budget of 2.0 MiB"));
  CHECK(w.rt.ledger().used_bytes() == 0);
}

TEST_CASE("a shuffle releases the memory of held elements one by one") {
  file_world w(1, 64 * kMiB);
  w.files->put("a", file_of(500, 10'000));
  auto ds = tfrecord("a") | shuffle(400, {.seed = 1});
  std::vector<std::size_t> used;
  auto watch = [](runtime& rt, const dataset<record>& plan, std::vector<std::size_t>& all) -> task<void> {
    auto s = plan.iterate(rt);
    for (;;) {
      auto x = co_await s.next();
      if (!x) break;
      all.push_back(rt.ledger().report().by_purpose[static_cast<std::size_t>(purpose::shuffle)]);
    }
  };
  sync_wait(w.rt, watch(w.rt, ds, used));
  REQUIRE(used.size() == 500);
  CHECK(used[50] > 3'900'000);
  CHECK(used[499] < used[50] / 2);  // the buffer was emptied meanwhile
  CHECK(w.rt.ledger().used_bytes() == 0);
}

namespace {
task<std::string> failure_of_next(stream<int64>* s) {
  try {
    (void)co_await s->next();
  } catch (const error& e) { co_return e.why().to_string(); }
  co_return "none";
}
}  // namespace

TEST_CASE("a stream that is read after its runtime is destroyed says so") {
  runtime other({.workers = 1});
  stream<std::int64_t> orphan = [] {
    runtime rt({.workers = 1});
    return range(10).iterate(rt);
  }();
  CHECK_THAT(sync_wait(other, failure_of_next(&orphan)),
             Catch::Contains("cancelled") && Catch::Contains("the runtime of this stream is destroyed"));
  CHECK_THROWS_WITH(async_next(orphan, asio::use_future).get(),
                    Catch::Contains("the runtime of this stream is destroyed"));
}

TEST_CASE("an element that outlives its run keeps its bytes charged until it goes") {
  file_world w;
  w.files->put("a", file_of(10, 100));
  auto keep_one = [](runtime& rt, const dataset<record>& ds, record& kept) -> task<void> {
    auto s = ds.iterate(rt);
    auto x = co_await s.next();
    kept = *x;
    auto end = cleanup(std::move(s));
    co_await end;
  };
  record kept;
  sync_wait(w.rt, keep_one(w.rt, tfrecord("a"), kept));
  CHECK(w.rt.ledger().used_bytes() >= kept.view().size());
  CHECK(w.rt.ledger().used_bytes() < kMiB);
  kept = record();
  CHECK(w.rt.ledger().used_bytes() == 0);
}

}  // namespace sluice::lib::memory_test
