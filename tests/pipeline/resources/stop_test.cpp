// SPDX-License-Identifier: Apache-2.0
// Runs that are stopped or dropped at a random moment leave nothing behind: no task, no open file, no charged byte.
//
// Every seed is a plan, over files or numbers, and a moment. SLUICE_TEST_SEED=S starts at seed S (support/budget.hpp).
#include <atomic>
#include <filesystem>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/stopped_run.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/random/random_plan.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::stop_test {
namespace {

using namespace stopped_run;

// --- Files and plans over them --------------------------------------------------------------------------------------

constexpr int kFiles = 5;
constexpr int64 kRecords = 60;

std::string file_name(int i) { return "part-" + std::to_string(i); }
/// Records with numbers in them; in one file of the five a record is damaged.
std::string file_bytes(int i) {
  std::string bytes;
  for (int64 k = 0; k != kRecords; ++k)
    append_tfrecord(bytes, std::to_string(i * kRecords + k) + std::string(static_cast<std::size_t>(k), ' '));
  if (i == 3) bytes[bytes.size() / 2] ^= 1;
  return bytes;
}
int64 number_in(const record& r) { return std::stoll(std::string(r.view())); }

task<int64> slow(int64 x) {
  co_await sleep_for(std::chrono::microseconds(x % 300));
  co_return x;
}
stream<int64> twice(stream<int64> in) {
  while (auto x = co_await in.next()) {
    int64 y = *x;
    co_yield y;
    co_yield y;
  }
}
dataset<int64> pair_from(int64 x) { return range(x + 2, {.start = x}); }

dataset<int64> with_random_stage(dataset<int64> in, random_numbers& r, bool& sloppy) {
  auto n = static_cast<int64>(1 + r.below(5));
  switch (r.below(13)) {
    case 0: return in | map([](int64 x) { return x + 1; });
    case 1: return in | map([](int64 x) { return x + 1; }, {.parallelism = n});
    case 2: return in | map(slow);
    case 3: return in | map(slow, {.parallelism = n});
    case 4: return in | filter([](int64 x) { return x % 3 != 0; });
    case 5: return in | shuffle(n * 7, {.seed = 3});
    case 6: return in | batch(n) | unbatch();
    case 7: return in | prefetch(n);
    case 8: return in | flat_map(pair_from);
    case 9: return in | interleave(pair_from, {.cycle_length = n, .parallelism = n});
    case 10: return in | transform(twice);
    case 11: return in | repeat(2);
    default: sloppy = true; return in | map(slow, {.parallelism = n, .order = order::sloppy});
  }
}

random_run random_run_over(const std::string& pattern, random_numbers& r) {
  random_run made;
  interleave_options o;
  o.cycle_length = static_cast<int64>(1 + r.below(4));
  o.block_length = static_cast<int64>(1 + r.below(3));
  o.parallelism = static_cast<int64>(1 + r.below(4));
  if (r.below(3) == 0) o.order = order::sloppy;
  made.sloppy = o.order == order::sloppy;
  byte_size small_reads = 4096;
  made.ds = list_files(pattern) | interleave(tfrecord({.read_bytes = small_reads}), o) | map(number_in);
  for (std::uint64_t stages = r.below(4); stages; --stages) made.ds = with_random_stage(made.ds, r, made.sloppy);
  return made;
}

}  // namespace

TEST_CASE("a run over files that is stopped or dropped at a random moment leaks nothing, in a simulation") {
  std::uint64_t first = test::first_seed(), count = test::cases(1000), early = 0;
  for (std::uint64_t seed = first; seed != first + count; ++seed) {
    random_numbers r(seed);
    random_run run = random_run_over("part-*", r);
    for (int i = 0; i != kFiles; ++i) run.files[file_name(i)] = file_bytes(i);
    moment m = random_moment(r);
    CAPTURE(seed, plan_text(*run.ds.plan()), m.yields, m.sleeps.count(), m.stops, m.drops_after, m.cleans_up);
    early += check_moment(run, m, seed);
  }
  CHECK(early > count / 2);  // else the moments are badly drawn
}

// --- Real threads and files -----------------------------------------------------------------------------------------

namespace {

std::size_t open_descriptors() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

struct watched {
  std::atomic<std::size_t> taken{0};
  std::atomic<bool> over{false};
  std::shared_ptr<run_base> run;
  std::shared_ptr<run_context> context;
};

task<void> consume_watched(stream<int64> s, const moment& m, watched& w, remains& got) {
  while (got.elements.size() < m.drops_after) {
    auto x = co_await s.try_next();
    got.why = x.why;
    if (!x) break;
    got.elements.push_back(*x);
    w.taken.store(got.elements.size(), std::memory_order_relaxed);
  }
  w.over = true;
  if (m.cleans_up) {
    auto end = cleanup(std::move(s));
    co_await end;
  }
}

/// False: tasks of the run are still alive after a minute.
bool idle_in_time(run_context& run) {
  std::binary_semaphore idle(0);
  run.when_idle([](void* s) noexcept { static_cast<std::binary_semaphore*>(s)->release(); }, &idle);
  if (idle.try_acquire_for(std::chrono::minutes(1))) return true;
  std::abort();  // the semaphore is still known to the run
}

}  // namespace

TEST_CASE("a run that is stopped or dropped at a random moment leaks nothing, on two workers") {
  temporary_folder folder;
  for (int i = 0; i != kFiles; ++i) folder.write(file_name(i), file_bytes(i));
  runtime rt({.workers = 2});
  std::size_t descriptors = 0;
  std::uint64_t first = test::first_seed(), count = test::cases(100);
  for (std::uint64_t seed = first; seed != first + count; ++seed) {
    random_numbers r(seed);
    random_run plan = random_run_over(folder.path("part-*"), r);
    moment m = random_moment(r);
    CAPTURE(seed, plan_text(*plan.ds.plan()), m.stops, m.drops_after, m.cleans_up);
    watched w;
    remains got;
    stream<int64> s = plan.ds.iterate(rt, m.options);
    w.run = test::tree_of(s).shared_run();
    w.context = test::tree_of(s).stage()->env->run->shared_from_this();
    std::size_t stops_after = m.stops ? m.yields : ~std::size_t{0};
    std::thread stopper([&] {
      while (w.taken.load(std::memory_order_relaxed) < stops_after && !w.over) std::this_thread::yield();
      if (m.stops) w.run->request_stop();
    });
    sync_wait(rt, consume_watched(std::move(s), m, w, got));
    stopper.join();
    w.run.reset();
    REQUIRE(idle_in_time(*w.context));
    CHECK(rt.ledger().used_bytes() == 0);
    bool expected_end = got.why.ok() || got.why.code() == status_code::data_loss ||
                        (m.stops && got.why.code() == status_code::cancelled);
    INFO(got.why.to_string());
    CHECK(expected_end);
    if (seed == first) descriptors = open_descriptors();  // the back end has opened what it keeps
    else CHECK(open_descriptors() == descriptors);
  }
}

// --- Where it waits -------------------------------------------------------------------------------------------------

namespace {

/// What a consumer is told when the run is stopped after a second, and when that was.
struct stopped {
  status why;
  duration at{0};
  std::size_t elements = 0;
};

task<void> consume_until_stopped(runtime& rt, stream<int64>& s, stopped& got) {
  for (;;) {
    auto x = co_await s.try_next();
    got.why = x.why;
    if (!x) break;
    ++got.elements;
  }
  got.at = rt.time().now().time_since_epoch();
}
task<void> stop_after_a_second(runtime& rt, const dataset<int64>& ds, stopped& got) {
  stream<int64> s = ds.iterate(rt);
  moment m;
  m.sleeps = std::chrono::seconds(1);
  auto consuming = consume_until_stopped(rt, s, got);
  auto stopping = stop_later(test::tree_of(s).shared_run(), m);
  auto both = when_all(std::move(consuming), std::move(stopping));
  co_await both;
  auto end = cleanup(std::move(s));
  co_await end;
}

task<int64> sleeps_for_an_hour(int64 x) {
  co_await sleep_for(std::chrono::hours(1));
  co_return x;
}

void check_stops_at_once(const dataset<int64>& ds, simulated_io behaviour) {
  simulation world(1);
  runtime rt(world, {.workers = 2});
  auto made = std::make_unique<simulated_file_system>(world, behaviour);
  simulated_file_system& files = *made;
  for (int i = 0; i != kFiles; ++i) files.put(file_name(i), file_bytes(0));
  set_files(rt, std::move(made));
  stopped got;
  sync_wait(rt, stop_after_a_second(rt, ds, got));
  CAPTURE(plan_text(*ds.plan()), got.why.to_string(), got.elements);
  CHECK(got.why.code() == status_code::cancelled);
  CHECK(got.at == std::chrono::seconds(1));
  CHECK(files.files_open() == 0);
  CHECK(rt.ledger().used_bytes() == 0);
}

}  // namespace

TEST_CASE("a stop ends an open, a read and a listing that would take long") {
  simulated_io slow_io;
  slow_io.delay_min = slow_io.delay_max = std::chrono::minutes(1);
  slow_io.page_cache_hits = 0;
  simulated_io slow_reads = slow_io;
  slow_reads.delay_min = std::chrono::milliseconds(0);
  for (const simulated_io& behaviour : {slow_io, slow_reads}) {
    check_stops_at_once(tfrecord("part-0") | map(number_in), behaviour);
    check_stops_at_once(tfrecord("part-0") | map(number_in) | prefetch(2), behaviour);
    check_stops_at_once(list_files("part-*") | interleave(tfrecord, {.cycle_length = 3}) | map(number_in), behaviour);
    check_stops_at_once(
        list_files("part-*") | interleave(tfrecord, {.cycle_length = 3, .parallelism = 3}) | map(number_in), behaviour);
    check_stops_at_once(list_files("part-*") |
                            interleave(tfrecord, {.cycle_length = 3, .parallelism = 3, .order = order::sloppy}) |
                            map(number_in),
                        behaviour);
  }
}

TEST_CASE("a stop ends functions that sleep") {
  check_stops_at_once(range(10) | map(sleeps_for_an_hour), {});
  check_stops_at_once(range(10) | map(sleeps_for_an_hour, {.parallelism = 4}), {});
  check_stops_at_once(range(10) | map(sleeps_for_an_hour, {.parallelism = 4, .order = order::sloppy}), {});
  check_stops_at_once(range(10) | map(sleeps_for_an_hour) | shuffle(4) | batch(2) | unbatch() | prefetch(1), {});
  check_stops_at_once(range(3) | interleave([](int64 x) { return range(x + 1) | map(sleeps_for_an_hour); },
                                            {.cycle_length = 2, .parallelism = 2}),
                      {});
}

namespace {

std::atomic<std::uint64_t> requests_after_end;

/// Never returns by itself: it requests elements again and again after the end of its input.
stream<int64> insatiable(stream<int64> in) {
  for (;;) {
    auto x = co_await in.next();
    if (x) {
      int64 y = *x;
      co_yield y;
    } else {
      ++requests_after_end;
    }
  }
}

}  // namespace

TEST_CASE("a stop ends a coroutine that requests elements again and again after the end of its input") {
  for (const bool behind_channel : {false, true}) {
    CAPTURE(behind_channel);
    runtime rt({.workers = 1});
    requests_after_end = 0;
    auto ds = range(10) | transform(insatiable);
    if (behind_channel) ds = ds | prefetch(2);
    auto consumed = [](stream<int64>& s, status* why) -> task<void> {
      for (;;) {
        auto x = co_await s.try_next();
        if (!x) {
          *why = x.why;
          break;
        }
      }
    };
    // On the same worker: it runs only if the coroutine lets others have their turn.
    auto stops = [](stream<int64>& s) -> task<void> {
      while (requests_after_end == 0) co_await sleep_for(std::chrono::microseconds(1));
      s.request_stop();
    };
    auto s = ds.iterate(rt);
    status why;
    auto both = [](task<void> a, task<void> b) -> task<void> { co_await when_all(std::move(a), std::move(b)); };
    sync_wait(rt, both(consumed(s, &why), stops(s)));
    CHECK(why.code() == status_code::cancelled);
    CHECK(requests_after_end > 0);
  }
}

TEST_CASE("a stream may be dropped after its runtime") {
  auto take_three = [](stream<int64>& s) -> task<void> {
    for (int i = 0; i < 3; ++i) (void)co_await s.next();
  };
  temporary_folder folder;
  std::string path = folder.write("lines", "0\n1\n2\n3\n4\n");
  auto length = [](const line& l) { return static_cast<int64>(l.size()); };
  auto all = {
      range(10'000) | prefetch(4), range(10'000) | map([](int64 x) { return x; }, {.parallelism = 2}) | shuffle(100),
      range(10'000) | batch(50) | unbatch() | prefetch(3), lines(path) | map(length) | repeat(100) | prefetch(4),
      range(50) | interleave([](int64 x) { return range(x); }, {.cycle_length = 3, .parallelism = 2})};
  for (const auto& ds : all) {
    CAPTURE(plan_text(*ds.plan()));
    stream<int64> s;
    {
      runtime rt({.workers = 2});
      s = ds.iterate(rt);
      sync_wait(rt, take_three(s));
    }
    CHECK(s);
  }
}

TEST_CASE("an empty stream is refused with words, not with a crash") {
  auto pulls = [](stream<int64>& s) -> task<void> { (void)co_await s.next(); };
  auto tries = [](stream<int64>& s) -> task<void> { (void)co_await s.try_next(); };
  auto asks = [](any_stream& s) -> task<void> { (void)co_await s.next_block({}); };
  runtime rt({.workers = 1});
  stream<int64> never_made, moved_from = range(3).iterate(rt);
  stream<int64> taken = std::move(moved_from);
  any_stream erased;
  const std::string words = "failed_precondition: this stream is empty";
  for (stream<int64>* s : {&never_made, &moved_from}) {
    CHECK_THROWS_WITH(sync_wait(rt, pulls(*s)), Catch::Contains(words));
    CHECK_THROWS_WITH(sync_wait(rt, tries(*s)), Catch::Contains(words));
    CHECK_THROWS_WITH(s->position(), Catch::Contains(words));
    s->request_stop();
    CHECK(report_of(*s).errors == 0);
  }
  CHECK_THROWS_WITH(sync_wait(rt, asks(erased)), Catch::Contains(words));
  auto end = [](stream<int64> s) -> task<void> {
    auto over = cleanup(std::move(s));
    co_await over;
  };
  sync_wait(rt, end(std::move(never_made)));
}

}  // namespace sluice::lib::stop_test
