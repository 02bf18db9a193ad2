// SPDX-License-Identifier: Apache-2.0
// A server with 50 ms to the first byte, 20 MB/s for each stream and 200 MB/s in total, in virtual time: the tuner's reads in
// flight use all of it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::server_test {
namespace {

using namespace std::chrono_literals;

constexpr double kStream = 20e6, kAll = 200e6;
constexpr std::size_t kFileBytes = 512 << 20, kRecordBytes = 1 << 16;

struct arrivals {
  std::vector<double> seconds;  ///< of each record
};

task<> read_all(simulation& world, any_stream& s, duration pace, arrivals& to) {
  for (;;) {
    auto one = co_await s.next_block({.elements = 1});
    if (!one) break;
    to.seconds.push_back(std::chrono::duration<double>(world.elapsed()).count());
    if (pace > duration(0)) co_await sleep_for(pace);
  }
}

/// Bytes per second in the last half.
double rate_of(const arrivals& a) {
  const std::size_t half = a.seconds.size() / 2, last = a.seconds.size() - 1;
  return static_cast<double>((last - half) * kRecordBytes) / (a.seconds[last] - a.seconds[half]);
}

struct outcome {
  double rate = 0;
  std::string reason;
  std::int64_t value = 0;
  std::uint64_t steps = 0;
};

/// `pace`: the consumer's own time for a record.
outcome run(const std::string& plan, duration pace = {}) {
  simulation world(5, {.cores = 2});
  runtime rt(world, {.memory_budget_bytes = std::size_t{1} << 30});
  auto files = std::make_unique<simulated_file_system>(world, simulated_io{.delay_min = 50ms,
                                                                           .delay_max = 50ms,
                                                                           .page_cache_hits = 0,
                                                                           .short_reads = 0,
                                                                           .heads = 0,
                                                                           .read_bytes_per_second = kStream,
                                                                           .bytes_per_second = kAll});
  files->put("sim://far/a.bin", std::string(kFileBytes, 'x'));
  add_files(rt, "sim", std::move(files));
  any_stream s = open_run(rt, parse_plan(plan), {.seed = 1, .tune = true});
  arrivals all;
  sync_wait(rt, read_all(world, s, pace, all));
  outcome o{.rate = rate_of(all), .reason = {}};
  o.steps = s.report().tuning.steps;
  for (const knob_choice& k : s.report().tuning.knobs) {
    if (k.knob != "reads_in_flight") continue;
    o.reason = k.reason;
    o.value = k.value;
  }
  sync_wait(rt, cleanup(std::move(s)));
  if (std::getenv("SLUICE_TEST_LOUD"))
    std::printf("%s: %.1f MB/s, %llu steps, %s\n", plan.c_str(), o.rate / 1e6, static_cast<unsigned long long>(o.steps),
                o.reason.c_str());
  return o;
}

}  // namespace

constexpr const char* kPlan = "fixed_length(\"sim://far/a.bin\", record_bytes=65536)";

// 763 reads of 256 KiB per second, of 63 ms each, are 48 in flight.
TEST_CASE("a server of 200 MB/s is used by as many reads in flight as it needs, after a few steps") {
  const outcome o = run(kPlan);
  CAPTURE(o.reason, o.value, o.rate, o.steps);
  CHECK(o.rate >= 0.97 * kAll);
  CHECK(o.value >= 47);
  CHECK(o.value <= 54);
  CHECK(o.steps <= 4);
}

// 381 reads per second, of 63 ms each, are 24 in flight.
TEST_CASE("a consumer of 100 MB/s gets the reads in flight of its rate") {
  const outcome o = run(kPlan, duration(static_cast<std::int64_t>(1e9 * kRecordBytes / 100e6)));
  CAPTURE(o.reason, o.value, o.rate, o.steps);
  CHECK(o.rate >= 0.97 * 100e6);
  CHECK(o.value >= 24);
  CHECK(o.value <= 32);
  CHECK(o.steps <= 4);
}

}  // namespace sluice::lib::server_test
