// SPDX-License-Identifier: Apache-2.0
// The verdict of a run's report: it names what slows the run down, and nothing if nothing does. All in virtual time.
#include <chrono>
#include <cmath>
#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::verdict_test {
namespace {

using namespace std::chrono_literals;
using int64 = std::int64_t;

/// The consumer: its own time for each element, and every `burst_every` elements a pause.
struct pace {
  duration each{};
  std::uint64_t burst_every = 0;
  duration pause{};
};

template <class T> task<> consume(stream<T>& s, pace p, std::uint64_t most) {
  for (std::uint64_t n = 1; n <= most; ++n) {
    auto x = co_await s.next();
    if (!x) break;
    if (p.each > duration(0)) co_await sleep_for(p.each);
    if (p.burst_every && n % p.burst_every == 0) co_await sleep_for(p.pause);
  }
}

struct world {
  explicit world(unsigned cores, std::size_t budget_bytes = 0)
      : sim(7, {.cores = cores}), rt(sim, {.memory_budget_bytes = budget_bytes}) {}
  template <class T> run_report run(const dataset<T>& ds, pace p = {}, std::uint64_t most = ~std::uint64_t{0}) {
    auto s = ds.iterate(rt, {.seed = 1});
    sync_wait(rt, consume(s, p, most));
    run_report r = s.report();
    sync_wait(rt, cleanup(std::move(s)));
    return r;
  }
  /// A function that computes for this time.
  auto work(duration each) {
    return [this, each](int64 x) {
      sim.spend(each);
      return x;
    };
  }
  simulation sim;
  runtime rt;
};

stream<int64> slow_numbers(duration each, int64 n) {
  for (int64 i = 0; i != n; ++i) {
    co_await sleep_for(each);
    co_yield int64(i);
  }
}
task<int64> call_of_100_ms(int64 x) {
  auto waiting = sleep_for(100ms);
  co_await waiting;
  co_return x;
}
task<std::string> fetch_100_kb(int64 x) {
  auto waiting = sleep_for(100ms);
  co_await waiting;
  co_return std::string(100'000, static_cast<char>('a' + x % 26));
}

task<> consume_blocks(any_stream& s, duration each) {
  for (;;) {
    auto one = co_await s.next_block({.elements = 1});
    if (!one) break;
    co_await sleep_for(each);
  }
}

void check_shares(const run_report& r) {
  for (const site_report& s : r.sites) {
    CAPTURE(s.name, s.busy_share, s.input_share, s.blocked_share);
    CHECK(s.busy_share >= 0);
    CHECK(s.input_share >= 0);
    CHECK(s.blocked_share >= 0);
    CHECK(std::abs(s.busy_share + s.input_share + s.blocked_share - 1) < 1e-9);
  }
}
void check_cause(const run_report& r, bound kind, limit_cause cause, const std::string& stage) {
  CAPTURE(r.verdict.text, r.verdict.wait_share);
  CHECK(std::string(to_string(r.verdict.kind)) == std::string(to_string(kind)));
  CHECK(std::string(to_string(r.verdict.cause)) == std::string(to_string(cause)));
  CHECK(r.verdict.stage == stage);
  if (!stage.empty()) CHECK(r.verdict.text.find(stage) != std::string::npos);
  check_shares(r);
}
const site_report& site(const run_report& r, const std::string& name) {
  for (const site_report& s : r.sites)
    if (s.name == name) return s;
  FAIL("no stage " << name);
  return r.sites.front();
}

}  // namespace

TEST_CASE("verdict: a slow consumer is the limit, and nothing is wrong") {
  for (unsigned cores : {1u, 4u}) {
    world w(cores);
    run_report r = w.run(range(200) | map(w.work(1ms)) | prefetch(4), {.each = 20ms});
    check_cause(r, bound::consumer, limit_cause::none, "");
    CHECK(r.verdict.text.starts_with("consumer-bound"));
    CHECK(r.verdict.notes.empty());
    CHECK(site(r, "map").blocked_share > 0.8);
    CHECK(r.consumer.requests > 100);
  }
}

TEST_CASE("verdict: a slow source, with fast stages on both sides of channels") {
  world w(4);
  auto source = generate([] { return slow_numbers(20ms, 100); });
  run_report r = w.run(source | map(w.work(1ms)) | prefetch(4) | map(w.work(2ms)) | prefetch(2), {.each = 1ms});
  check_cause(r, bound::input_highly, limit_cause::stage, "generate");
  CHECK(site(r, "generate").busy_share > 0.9);
  CHECK(r.verdict.wait_share > 0.8);
}

TEST_CASE("verdict: a slow map in one task, not the stages that wait for it") {
  for (unsigned cores : {2u, 4u}) {
    world w(cores);
    auto ds =
        range(200) | map(w.work(1ms)) | prefetch(4) | map(w.work(30ms)) | prefetch(4) | map(w.work(1ms)) | prefetch(4);
    run_report r = w.run(ds);
    CAPTURE(cores);
    check_cause(r, bound::input_highly, limit_cause::stage, "map #2");
    CHECK(r.sites[3].busy_share > 0.9);
    CHECK(r.sites[1].input_share > 0.8);    // the map downstream starves
    CHECK(r.sites[5].blocked_share > 0.8);  // the map upstream is blocked
  }
}

TEST_CASE("verdict: a moderate wait is called moderate") {
  world w(4);
  run_report r = w.run(range(300) | map(w.work(11ms)) | prefetch(8), {.each = 10ms});
  check_cause(r, bound::input_moderately, limit_cause::stage, "map");
  CHECK(r.verdict.wait_share > 0.05);
  CHECK(r.verdict.wait_share < 0.2);
}

TEST_CASE("verdict: too few parallel calls, and too few cores") {
  world w(4);
  run_report calls = w.run(range(200) | map(call_of_100_ms, {.parallelism = 4}), {.each = 5ms});
  check_cause(calls, bound::input_highly, limit_cause::parallel, "map");
  CHECK(calls.verdict.text.find("all 4 of its calls") != std::string::npos);
  CHECK(site(calls, "map").in_flight >= 20s);  // 200 calls of 100 ms
  CHECK(site(calls, "map").each == 100ms);
  CHECK(site(calls, "map").each_deviation < 1ms);

  world busy(2);
  run_report cores = busy.run(range(400) | map(busy.work(10ms), {.parallelism = 8}));
  check_cause(cores, bound::input_highly, limit_cause::workers, "map");
  CHECK(cores.machine.computed == 4s);

  world shared(2);  // the consumer waits for a core after each of its own steps
  run_report late = shared.run(range(400) | map(shared.work(10ms), {.parallelism = 8}), {.each = 1ms});
  check_cause(late, bound::consumer, limit_cause::none, "");
  REQUIRE(late.verdict.notes.size() == 1);
  CHECK(late.verdict.notes[0].starts_with("all 2 workers are busy"));
}

TEST_CASE("verdict: bursts are named with their time and distance") {
  world w(4);
  auto bursty = [&w](int64 x) {
    w.sim.spend(x % 15 == 14 ? 1500ms : 1ms);
    return x;
  };
  run_report r = w.run(range(300) | map(bursty) | prefetch(1), {.each = 10ms});
  check_cause(r, bound::input_highly, limit_cause::stage, "map");
  REQUIRE(r.verdict.notes.size() == 1);
  CHECK(r.verdict.notes[0].find("every 15 elements") != std::string::npos);
  CHECK(r.consumer.stall_took > 1400ms);
  CHECK(r.consumer.stall_took <= 1500ms);
  CHECK(r.consumer.is_regular);
  CHECK(site(r, "map").longest == 1500ms);
  CHECK(site(r, "map").each_deviation > 300ms);
}

TEST_CASE("verdict: a small channel between a steady producer and a consumer that pauses") {
  world w(4);
  pace p{.burst_every = 10, .pause = 1000ms};
  run_report small = w.run(range(200) | map(w.work(80ms)) | prefetch(1), p);
  check_cause(small, bound::input_highly, limit_cause::channel, "prefetch");
  world wide(4);
  run_report large = wide.run(range(200) | map(wide.work(80ms)) | prefetch(16), p);
  check_cause(large, bound::consumer, limit_cause::none, "");
}

TEST_CASE("verdict: the memory budget") {
  world w(4, 400'000);
  run_report r = w.run(range(300) | map(fetch_100_kb, {.parallelism = 16}), {.each = 1ms});
  check_cause(r, bound::input_highly, limit_cause::memory, "map");
  CHECK(site(r, "map").waits_by_reason[static_cast<std::size_t>(wait_reason::memory)].took > 1s);
}

TEST_CASE("verdict: the delay of the network, and of a disk") {
  for (const bool is_remote : {true, false}) {
    world w(4);
    auto files = std::make_unique<simulated_file_system>(
        w.sim, simulated_io{.delay_min = 50ms, .delay_max = 60ms, .page_cache_hits = 0, .short_reads = 0, .heads = 0});
    const std::string folder = is_remote ? "sim://far/" : "/near/";
    for (int i = 0; i != 30; ++i) files->put(folder + std::to_string(100 + i) + ".txt", "one\ntwo\nthree\n");
    if (is_remote) add_files(w.rt, "sim", std::move(files));
    else set_files(w.rt, std::move(files));
    any_stream s = open_run(w.rt, parse_plan("lines(\"" + folder + "*.txt\", reads_in_flight=1) | prefetch(4)"));
    sync_wait(w.rt, consume_blocks(s, 2ms));
    run_report r = s.report();
    check_cause(r, bound::input_highly, is_remote ? limit_cause::network : limit_cause::disk, "lines");
    const site_report& reader = site(r, "lines");
    CHECK(reader.elements == 90);
    CHECK(reader.reads >= 30);
    CHECK(reader.first_bytes == 30);
    CHECK(reader.first_byte_took / 30 >= 50ms);
    CHECK(reader.first_byte_took / 30 <= 180ms);  // an open, a read, and an open that examines the file
    sync_wait(w.rt, cleanup(std::move(s)));
  }
}

TEST_CASE("verdict: the pace that the plan demands") {
  world w(2);
  run_report r = w.run(range(100) | rate_limit({.elements_per_second = 20}) | prefetch(2), {.each = 1ms});
  check_cause(r, bound::input_highly, limit_cause::pace, "rate_limit");
}

TEST_CASE("verdict: functions with threads of their own use more than the budget") {
  std::vector<site_report> none(1);
  none[0].name = "map";
  consumer_report c{.requests = 10, .elapsed = 10s};
  run_verdict v = judge(none, c, {.workers = 2, .elapsed = 10s, .computed = 60s});
  REQUIRE(v.notes.size() == 1);
  CHECK(v.notes[0].find("used 6.0 cores, and the run has 2 workers") != std::string::npos);
  CHECK(judge(none, c, {.workers = 2, .elapsed = 10s, .computed = 25s}).notes.empty());
}

TEST_CASE("verdict: without elements and without statistics nothing is measured") {
  world w(1);
  auto s = range(10).iterate(w.rt);
  CHECK(s.report().verdict.kind == bound::unmeasured);
  sync_wait(w.rt, cleanup(std::move(s)));
  auto off = range(10).iterate(w.rt, {.statistics = run_switch(false)});
  sync_wait(w.rt, consume(off, {}, 5));
  CHECK(off.report().verdict.kind == bound::unmeasured);
  sync_wait(w.rt, cleanup(std::move(off)));
}

TEST_CASE("samples are unbiased for costs of two sizes, whatever their order") {
  for (int64 every : {2, 10, 64, 128, 1000}) {
    CAPTURE(every);
    world w(1);
    auto two_sizes = [&w, every](int64 x) {
      w.sim.spend(x % every == 0 ? 100us : 1us);
      return x;
    };
    constexpr int64 kElements = 100'000;
    const int64 slow = kElements / every;
    const duration exact = slow * 100us + (kElements - slow) * 1us;
    auto s = (range(kElements) | map(two_sizes)).iterate(w.rt);
    sync_wait(w.rt, consume(s, {}, ~std::uint64_t{0}));
    const duration busy = site(s.report(), "map").busy;
    CHECK(std::abs(static_cast<double>(busy.count()) / static_cast<double>(exact.count()) - 1) < 0.2);
    sync_wait(w.rt, cleanup(std::move(s)));
  }
}

}  // namespace sluice::lib::verdict_test
