// SPDX-License-Identifier: Apache-2.0
// What a report says about the sizes of elements, the time by size, and waits for threads of the call pool.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::sizes_and_threads_test {
namespace {

using namespace std::chrono_literals;
using int64 = std::int64_t;

constexpr std::size_t kSmall = 1000, kLarge = 100'000;
bool is_large(int64 x) { return x % 10 == 0; }
std::string text_of(int64 x) { return std::string(is_large(x) ? kLarge : kSmall, 'x'); }
duration time_of(std::size_t bytes) { return bytes == kLarge ? 100ms : 10ms; }

task<std::string> fetched(int64 x) {
  std::string text = text_of(x);
  auto waiting = sleep_for(time_of(text.size()));
  co_await waiting;
  co_return std::move(text);
}
task<int64> measured(std::string text) {
  auto waiting = sleep_for(time_of(text.size()));
  co_await waiting;
  co_return static_cast<int64>(text.size());
}

task<> drain_one_by_one(any_stream& s) {
  for (;;) {
    auto one = co_await s.next_block({.elements = 1});
    if (!one) break;
  }
}

template <class T> run_report report_of_run(runtime& rt, const dataset<T>& ds) {
  any_stream s = open_run(rt, ds.plan(), {.seed = 1});
  sync_wait(rt, drain_one_by_one(s));
  run_report r = s.report();
  sync_wait(rt, cleanup(std::move(s)));
  return r;
}

const site_report& site(const run_report& r, const std::string& name) {
  for (const site_report& s : r.sites)
    if (s.name == name) return s;
  FAIL("no stage " << name);
  return r.sites.front();
}

void check_two_sizes(const site_report& s) {
  REQUIRE(s.by_size.size() == 2);
  CHECK(s.by_size[0].bytes_max == 4096);
  CHECK(s.by_size[1].bytes_max == 262'144);
  CHECK(s.by_size[0].took / static_cast<int64>(s.by_size[0].elements) == 10ms);
  CHECK(s.by_size[1].took / static_cast<int64>(s.by_size[1].elements) == 100ms);
}

site_wait thread_waits(const site_report& s) {
  return s.waits_by_reason[static_cast<std::size_t>(wait_reason::call_pool)];
}

/// One thread, which takes each call after 3 ms, and executes it in 2 ms of virtual time.
class slow_pool final : public blocking_service {
 public:
  explicit slow_pool(simulation& world) : world_(world) {}
  void submit(blocking_call& call) override {
    world_.spend(3ms);
    call.wait.end(*call.env);
    world_.spend(2ms);
    call.run(call);
  }

 private:
  simulation& world_;
};
struct same_number {
  int64 x;
  int64 operator()() const { return x; }
};
task<int64> called(slow_pool* pool, int64 x) {
  blocking<same_number> call(*pool, same_number{x});
  const int64 y = co_await call;
  co_return y;
}
stream<int64> called_numbers(slow_pool* pool, int64 n) {
  for (int64 i = 0; i != n; ++i) {
    auto call = called(pool, i);
    const int64 x = co_await call;
    co_yield int64(x);
  }
}
struct call_on {
  slow_pool* pool;
  task<int64> operator()(int64 x) const { return called(pool, x); }
};

}  // namespace

TEST_CASE("size classes have limits that grow by four") {
  CHECK(size_class_of(0) == 0);
  for (std::size_t i = 0; i + 1 != kSizeClasses; ++i) {
    CHECK(size_class_of(bytes_max_of_class(i)) == i);
    CHECK(size_class_of(bytes_max_of_class(i) + 1) == i + 1);
  }
  CHECK(size_class_of(~std::uint64_t{0}) == kSizeClasses - 1);
}

TEST_CASE("time by size: calls in parallel, by the size of their results") {
  simulation world(3, {.cores = 2});
  runtime rt(world);
  const run_report r = report_of_run(rt, range(300) | map(fetched, {.parallelism = 4}));
  const site_report& s = site(r, "map");
  check_two_sizes(s);
  CHECK(s.by_size[0].elements == 270);
  CHECK(s.by_size[1].elements == 30);
}

TEST_CASE("time by size: calls in parallel, by the size of their inputs") {
  simulation world(3, {.cores = 2});
  runtime rt(world);
  const run_report r = report_of_run(rt, range(300) | map(text_of) | map(measured, {.parallelism = 4}));
  const site_report& s = site(r, "map");  // the last one of the plan
  check_two_sizes(s);
  CHECK(s.by_size[0].elements + s.by_size[1].elements == 300);
}

TEST_CASE("time by size: a stage without tasks, from its samples") {
  simulation world(3, {.cores = 1});
  runtime rt(world);
  auto made = [&world](int64 x) {
    std::string text = text_of(x);
    world.spend(time_of(text.size()));
    return text;
  };
  auto read = [&world](const std::string& text) {
    world.spend(time_of(text.size()));
    return static_cast<int64>(text.size());
  };
  const run_report r = report_of_run(rt, range(2000) | map(made) | map(read));
  for (const site_report& s : r.sites)
    if (s.name == "map") check_two_sizes(s);
  REQUIRE(site(r, "range").by_size.size() == 1);
  CHECK(site(r, "range").by_size[0].bytes_max == 64);
}

TEST_CASE("the memory of one element: mean, deviation and the most") {
  // Sizes of blocks, and so the elements that are measured, do not depend on a clock.
  simulation world(3, {.cores = 1});
  runtime rt(world);
  const run_report r = report_of_run(rt, range(20'000) | map(text_of));
  const site_report& s = site(r, "map");
  // One of ten is large.
  const double mean = (9.0 * kSmall + kLarge) / 10 + sizeof(std::string);
  const double deviation = 0.3 * (kLarge - kSmall);
  CHECK(std::abs(s.each_bytes / mean - 1) < 0.25);
  CHECK(std::abs(s.each_bytes_deviation / deviation - 1) < 0.25);
  CHECK(s.largest_bytes >= kLarge);
  CHECK(s.largest_bytes < kLarge * 11 / 10);
  CHECK(site(r, "range").each_bytes == sizeof(int64));
  CHECK(site(r, "range").each_bytes_deviation == 0);
  CHECK(site(r, "range").largest_bytes == sizeof(int64));
}

TEST_CASE("a stage that waits for a thread says so, and is the cause") {
  simulation world(3, {.cores = 1});
  runtime rt(world);
  slow_pool pool(world);
  const run_report r = report_of_run(rt, generate([&pool] { return called_numbers(&pool, 100); }));
  const site_report& s = site(r, "generate");
  CHECK(thread_waits(s).times == 100);
  CHECK(thread_waits(s).took == 300ms);
  CHECK(s.waited == 300ms);
  CHECK(r.verdict.cause == limit_cause::call_pool);
  CAPTURE(r.verdict.text);
  CHECK(r.verdict.text.find("generate: it waits 60 % of the time for a thread") != std::string::npos);
  CHECK(r.verdict.text.find("raise blocking_threads_max") != std::string::npos);
  CHECK(std::abs(s.busy_share + s.input_share + s.blocked_share - 1) < 1e-9);
  CHECK(std::abs(s.input_share - 0.6) < 0.05);
}

TEST_CASE("parallel calls that wait for threads say so, and their stage does not wait for it") {
  simulation world(3, {.cores = 1});
  runtime rt(world);
  slow_pool pool(world);
  const run_report r = report_of_run(rt, range(100) | map(call_on{&pool}, {.parallelism = 4}));
  const site_report& s = site(r, "map");
  CHECK(thread_waits(s).times == 100);
  CHECK(thread_waits(s).took == 300ms);
  const site_wait own_calls = s.waits_by_reason[static_cast<std::size_t>(wait_reason::calls)];
  const site_wait input = s.waits_by_reason[static_cast<std::size_t>(wait_reason::input)];
  CHECK(s.waited == own_calls.took + input.took);
}

TEST_CASE("calls queue while all threads of the pool are in use") {
  runtime rt({.workers = 1, .blocking_threads_max = 1});
  struct meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int64 begun = 0;
  };
  constexpr int64 kCalls = 4;
  // The first call ends when all calls have begun, so those between are queued meanwhile.
  struct until_all_begun {
    meeting* of;
    int64 operator()() const {
      std::unique_lock lock(of->mutex);
      of->changed.wait(lock, [this] { return of->begun == kCalls; });
      return of->begun;
    }
  };
  struct begin {
    runtime* rt;
    meeting* of;
    task<int64> operator()(int64) const { return made(rt, of); }
    static task<int64> made(runtime* rt, meeting* of) {
      {
        std::lock_guard lock(of->mutex);
        ++of->begun;
      }
      of->changed.notify_all();
      blocking<until_all_begun> call(rt->blocking_calls(), until_all_begun{of});
      const int64 n = co_await call;
      co_return n;
    }
  };
  meeting all;
  const run_report r = report_of_run(rt, range(kCalls) | map(begin{&rt, &all}, {.parallelism = kCalls}));
  const site_wait waits = thread_waits(site(r, "map"));
  CHECK(waits.times >= 2);
  CHECK(waits.took > duration(0));
}

}  // namespace sluice::lib::sizes_and_threads_test
