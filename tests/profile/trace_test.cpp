// SPDX-License-Identifier: Apache-2.0
// A trace in virtual time: the same seed gives the same text, and each block is in it.
#include <chrono>
#include <map>
#include <string>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sluice/plan/text.hpp"
#include "sluice/profile/trace.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::trace_test {
namespace {

using namespace std::chrono_literals;
using int64 = std::int64_t;
using json = nlohmann::json;

task<> consume_all(stream<int64>& s) {
  std::uint64_t n = 0;
  while (auto x = co_await s.next()) n += *x >= 0;
  CHECK(n == 40);
}

/// Traces 40 elements that take 10 ms each, on four simulated cores.
std::string trace_of(trace_options o, bool& is_full, std::uint64_t seed = 7) {
  simulation world(seed, {.cores = 4});
  world.decide_sharing([] { return true; });
  runtime rt(world);
  trace_recording recording(o);
  auto slow = [&world](int64 x) {
    world.spend(10ms);
    return x;
  };
  auto s = (range(40) | map(slow, {.parallelism = 4}) | shuffle(8) | prefetch(2)).iterate(rt, {.seed = 1});
  sync_wait(rt, consume_all(s));
  recording.stop();
  sync_wait(rt, cleanup(std::move(s)));
  is_full = recording.is_full();
  return recording.json();
}

/// The number of events for each phase, category and name.
std::map<std::string, int> counts_of(const json& trace) {
  std::map<std::string, int> counts;
  for (const json& e : trace["traceEvents"])
    if (e["ph"] != "M")
      ++counts[e["ph"].get<std::string>() + " " + e["cat"].get<std::string>() + " " + e["name"].get<std::string>()];
  return counts;
}

}  // namespace

TEST_CASE("a trace in virtual time has each block, and is the same for the same seed") {
  bool is_full = true;
  const std::string text = trace_of({.gap = duration(0)}, is_full);
  CHECK_FALSE(is_full);
  CHECK(text == trace_of({.gap = duration(0)}, is_full));
  const json trace = json::parse(text);
  auto counts = counts_of(trace);
  CAPTURE(text);
  // A block of the map has one element, because it takes 10 ms.
  CHECK(counts["X task map"] == counts["X put put map"]);
  CHECK(counts["X put put map"] == counts["s channel map"]);
  CHECK(counts["s channel map"] == counts["f channel map"]);
  CHECK(counts["b channel map"] == counts["e channel map"]);
  CHECK(counts["b channel map"] == counts["X take take map"]);
  CHECK(counts["b fill fill shuffle"] == 1);
  CHECK(counts["s channel prefetch"] > 0);
  int64 elements = 0, busy_us = 0, bytes_seen = 0;
  for (const json& e : trace["traceEvents"]) {
    const bool is_task = e["ph"] == "X" && e["cat"] == "task" && e["name"] == "map";
    if (is_task) elements += e["args"]["elements"].get<int64>();
    if (is_task) busy_us += e["dur"].get<int64>();
    if (e["ph"] == "C" && e["name"] == "memory") bytes_seen += e["args"]["bytes"].get<int64>();
  }
  CHECK(elements == 40);
  CHECK(busy_us == 400'000);  // the time that the calls have spent
  CHECK(bytes_seen > 0);
}

TEST_CASE("a trace has a track for each simulated core, and ends at the last element") {
  bool is_full = true;
  const json trace = json::parse(trace_of({.gap = duration(0)}, is_full));
  std::map<std::string, int> tracks;
  double last = 0;
  for (const json& e : trace["traceEvents"]) {
    if (e["name"] == "thread_name") ++tracks[e["args"]["name"].get<std::string>()];
    if (e["ph"] != "M") last = e["ts"].get<double>();
  }
  for (const char* name : {"core 0", "core 1", "core 2", "core 3"}) CHECK(tracks[name] == 1);
  CHECK(last >= 100'000);  // 40 elements of 10 ms on four cores
  CHECK(last <= 150'000);
}

TEST_CASE("a trace ends when it is full, and says when") {
  bool is_full = false;
  const json trace = json::parse(trace_of({.events_max = 20, .gap = duration(0)}, is_full));
  CHECK(is_full);
  CHECK(trace["otherData"]["full"] == true);
  CHECK(trace["otherData"]["full_at_us"].get<double>() > 0);
  int records = 0;
  for (const json& e : trace["traceEvents"]) {
    const std::string ph = e["ph"];
    records += ph == "X" || ph == "b" || ph == "C" || ph == "s";
  }
  CHECK(records <= 20);
  CHECK(trace["traceEvents"].back()["name"] == "the trace is full");
}

TEST_CASE("a gap leaves blocks of a channel out") {
  bool is_full = false;
  auto puts = [&](duration gap) { return counts_of(json::parse(trace_of({.gap = gap}, is_full)))["X put put map"]; };
  const int all = puts(0ms), some = puts(25ms);
  CHECK(all > some);
  CHECK(some >= 1);
  CHECK(some <= 7);  // in at most 150 ms
}

TEST_CASE("a process has one recording at a time") {
  {
    trace_recording one;
    CHECK_THROWS_WITH(trace_recording(), Catch::Contains("is being recorded already"));
    one.stop();
    trace_recording after;
  }
  trace_recording empty;
  const json trace = json::parse(empty.json());
  CHECK(trace["traceEvents"].size() == 1);  // the name of the process
  CHECK(trace["otherData"]["full"] == false);
}

}  // namespace sluice::lib::trace_test
