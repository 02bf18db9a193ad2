// SPDX-License-Identifier: Apache-2.0
// A stage that never waits shares its worker with other runs, and notices a stop, also while it passes over elements, finds
// again what it held, or reads damage. SLUICE_TEST_LOUD=1 prints how long it keeps its worker at most.
#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <catch2/catch.hpp>

#include "format/compressed.hpp"
#include "io/temporary_folder.hpp"
#include "pipeline/forged_checkpoint.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/sluice.hpp"
#include "support/process_memory.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::turns_test {
namespace {

using namespace testing;
using int64 = std::int64_t;
using namespace std::chrono_literals;

/// Seconds of work for any machine; what does not give way is at it far longer than any wait of these tests.
constexpr int64 kLong = 3'000'000'000;

stream<int64> counting(int64 n) {
  for (int64 i = 0; i < n; ++i) co_yield i;
}

struct outcome {
  std::atomic<bool> ended{false};
  status why;
  bool any = false;
};

template <class T> task<void> take_one(stream<T>& s, outcome& o) {
  auto x = co_await s.try_next();
  o.any = static_cast<bool>(x);
  o.why = x.why;
  auto end = cleanup(std::move(s));
  co_await end;
}

task<int64> drained(runtime& rt, dataset<int64> ds) {
  auto s = ds.iterate(rt);
  int64 n = 0;
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    ++n;
  }
  auto end = cleanup(std::move(s));
  co_await end;
  co_return n;
}

/// What the thread has worked: other processes do not count.
std::chrono::nanoseconds worked() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

/// Watches the only worker for so much of its work: what is the most that it does between two turns of ours?
task<std::chrono::nanoseconds> longest_stretch(std::chrono::nanoseconds watched, std::atomic<bool>& watching,
                                               std::atomic<bool>& ended) {
  yield_now to_worker;
  co_await to_worker;
  watching = true;
  std::chrono::nanoseconds began = worked(), last = began, longest{};
  while (last - began < watched && !ended) {
    yield_now others_first;
    co_await others_first;
    auto now = worked();
    longest = std::max(longest, now - last);
    last = now;
  }
  co_return longest;
}

template <class T> struct busy_plan {
  const char* name;
  dataset<T> plan;
  std::uint64_t passed_first = 0;
  iterate_options options = {};
};
std::vector<busy_plan<int64>> busy_plans() {
  auto none = [](int64) { return false; };
  return {
      {"a filter that keeps nothing", range(kLong) | filter(none)},
      {"a filter over a user's coroutine", generate([] { return counting(kLong); }) | filter(none)},
      {"a user's coroutine that is passed over", generate([] { return counting(kLong); }), std::uint64_t{1} << 50},
      {"a shuffle that is passed over", range(1'000'000'000'000) | shuffle(1000, {.seed = 1}), std::uint64_t{1} << 50},
      {"a skip above a batch",
       range(kLong) | filter([](int64) { return true; }) | batch(1) | unbatch() | skip(kLong - 1)},
      {"a channel below", range(kLong) | prefetch(100) | filter(none)},
  };
}

/// Runs it on one worker, and another run beside it; stops it. Returns what it kept the worker for at most.
template <class T> std::chrono::nanoseconds stopped(const busy_plan<T>& p) {
  runtime rt({.workers = 1});
  outcome o;
  auto s = p.plan.iterate(rt, p.options);
  test::tree_of(s).pass_over(p.passed_first);
  run_base& run = *test::tree_of(s).run();
  std::shared_ptr<run_base> alive = test::tree_of(s).shared_run();
  std::atomic<bool> watching{false};
  std::thread busy([&] {
    while (!watching) std::this_thread::yield();
    sync_wait(rt, take_one(s, o));
    o.ended = true;
  });
  auto longest = sync_wait(rt, longest_stretch(kSanitized ? 1000ms : 300ms, watching, o.ended));
  int64 other = sync_wait(rt, drained(rt, range(200) | prefetch(10)));
  bool ended_before = o.ended;
  auto asked = std::chrono::steady_clock::now();
  run.request_stop();
  busy.join();
  auto took = std::chrono::steady_clock::now() - asked;
  CHECK(other == 200);
  CHECK_FALSE(ended_before);
  CHECK_FALSE(o.any);
  CHECK(o.why.code() == status_code::cancelled);
  CHECK(took < 30s);  // some 10 ms; hours, if nobody heard of the stop
  return longest;
}

/// Some 3 ms; more at the end of a line of 64 MiB, which is dropped at once.
constexpr std::chrono::nanoseconds kKeptMax = kSanitized ? 1000ms : 40ms;

template <class T> void gives_way(const busy_plan<T>& p) {
  CAPTURE(p.name);
  std::chrono::nanoseconds kept = 1h;
  // A virtual machine that is not given its processor counts that as work: what is no fault of ours does not come thrice.
  for (int attempt = 0; attempt != 3 && kept >= kKeptMax; ++attempt) kept = std::min(kept, stopped(p));
  CHECK(kept < kKeptMax);
  if (std::getenv("SLUICE_TEST_LOUD"))
    std::printf("%-40s keeps its worker for %.1f ms at most\n", p.name,
                std::chrono::duration<double, std::milli>(kept).count());
}

}  // namespace

TEST_CASE("one worker: a stage that never waits lets another run continue, and ends at a stop") {
  for (const auto& p : busy_plans()) gives_way(p);
}

TEST_CASE("one worker: so does a shuffle that finds its held elements again") {
  // Finding it again must outlast the watching by far, on a fast machine too (a million took one to two seconds under ASan).
  constexpr std::uint64_t kHeld = kSanitized ? 4'000'000 : 8'000'000;
  constexpr std::uint64_t kLength = 1'000 * kHeld;
  auto ds = range(static_cast<int64>(kLength)) | shuffle(kHeld, {.seed = 1});
  auto resumed = [&](const char* name, std::uint64_t draws, std::uint64_t length, std::uint64_t held_from) {
    runtime rt({.workers = 1});
    position_writer w;
    put(w, *ds.plan(), draws, {draws, length + 1});
    put(w, *ds.plan()->inputs[0], held_from, {held_from});
    gives_way(busy_plan<int64>{name, ds, 0, {.from = with_position(rt, ds, w)}});
  };
  constexpr std::uint64_t kNotEnded = ~std::uint64_t{0};  // as shuffle_table::kUnknown
  resumed("while the input goes on", 900 * kHeld, kNotEnded, 50 * kHeld);
  resumed("while the buffer empties", kLength - kHeld / 2, kLength, kLength - 900 * kHeld);
}

TEST_CASE("one worker: so does a file of damage, and a line of many megabytes") {
  temporary_folder folder;
  constexpr std::size_t kMiB = 1 << 20;
  const std::string megabyte(kMiB, 'x'), packed = gzipped(megabyte);
  std::string long_line, long_line_gz;
  for (int i = 0; i != (kSanitized ? 32 : 64); ++i) long_line += megabyte, long_line_gz += packed;
  const std::string plain = folder.write("line", long_line), gz = folder.write("line.gz", long_line_gz);
  const std::string bad = folder.write("damaged", long_line + long_line + long_line + long_line);
  auto none = [](const auto&) { return false; };
  iterate_options passing;
  passing.on_error = error_policy::skip;
  gives_way(busy_plan<record>{"no record anywhere", tfrecord(bad) | repeat(100), 0, passing});
  gives_way(busy_plan<line>{"a line, plain", lines(plain) | repeat() | filter(none)});
  gives_way(busy_plan<line>{"a line, gzip", lines(gz) | repeat() | filter(none)});
  gives_way(busy_plan<line>{"lines that are passed over", lines(gz) | repeat(), std::uint64_t{1} << 50});
}

TEST_CASE("one worker: so does a file of nothing but damaged records") {
  temporary_folder folder;
  std::string frame;
  append_tfrecord(frame, "twelve bytes");
  frame.back() = static_cast<char>(frame.back() ^ 1);
  std::string frames;
  for (int i = 0; i != (kSanitized ? 300'000 : 3'000'000); ++i) frames += frame;
  iterate_options passing;
  passing.on_error = error_policy::skip;
  gives_way(busy_plan<record>{"damaged records", tfrecord(folder.write("a", frames)) | repeat(100), 0, passing});
}

}  // namespace sluice::lib::turns_test
