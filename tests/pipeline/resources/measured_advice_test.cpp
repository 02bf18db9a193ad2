// SPDX-License-Identifier: Apache-2.0
// Advice with the figures of a run. The figures are given, so that the texts are exact.
#include "profile/measured_advice.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <string>
#include <vector>

#include "sluice/base/random_bits.hpp"
#include "sluice/op/batch.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/range.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::measured_advice_test {
namespace {

using namespace std::chrono_literals;

/// The figures of a stage of the plan's chain.
struct figures {
  std::uint64_t elements = 0;
  duration busy{};
  std::uint64_t bytes = 0;
};

/// A run of 10 s on 4 workers. `of_stages`: the last stage first.
struct given_run {
  given_run(const node_ptr& plan, const std::vector<figures>& of_stages) {
    const node* at = plan.get();
    for (const figures& f : of_stages) {
      site_report s;
      s.path = derive(0, at->site);
      s.name = at->op->name;
      s.elements = f.elements;
      s.busy = f.busy;
      s.bytes = f.bytes;
      if (!at->inputs.empty()) s.inputs = {derive(0, at->inputs[0]->site)};
      sites.push_back(s);
      if (!at->inputs.empty()) at = at->inputs[0].get();
    }
  }
  /// Makes the last of the sites, a source, the cause of the verdict. It waits for this time.
  void limit_by_source(limit_cause cause, duration waits) {
    site_report& source = sites.back();
    source.waited = waits;
    source.waits_by_reason[static_cast<std::size_t>(wait_reason::network)] = {1, waits};
    source.read_bytes = 1;
    verdict.kind = bound::input_highly;
    verdict.cause = cause;
    verdict.path = source.path;
  }
  std::string advice(const node_ptr& plan, bool is_whole = true) const {
    std::string all;
    for (const measured_note& note : measured_advice(*plan, {sites, verdict, {4, 10s, 10s}, is_whole}))
      all += (all.empty() ? "" : "\n") + std::string(note.kind) + ": " + note.text;
    return all;
  }
  std::vector<site_report> sites;
  run_verdict verdict;
};

}  // namespace

TEST_CASE("a file that is read alone and limits the run: the time with several files") {
  const node_ptr plan = parse_plan("lines(\"a\") | batch(8)");
  given_run run(plan, {{50, 0s, 0}, {400, 0s, 0}});
  CHECK(run.advice(plan).empty());
  run.limit_by_source(limit_cause::network, 8s);
  CHECK(run.advice(plan) ==
        "source_limit: lines takes 20 ms for an element; interleave of 4 files at a time: about 5 ms");
  run.verdict.kind = bound::consumer;
  CHECK(run.advice(plan).empty());
  run.verdict.kind = bound::input_moderately;
  run.verdict.cause = limit_cause::pace;
  CHECK(run.advice(plan).empty());
  run.verdict.cause = limit_cause::disk;
  run.sites.front().name = "interleave";  // reads several of them already
  CHECK(run.advice(plan).empty());
}

TEST_CASE("elements that each epoch computes again: their bytes, and the time that a cache saves") {
  const node_ptr plan = parse_plan("lines(\"a\") | map(length(it)) | shuffle(5) | repeat(4)");
  const std::vector<figures> stages = {{8000, 0s, 0}, {8000, 1s, 0}, {8000, 3s, 64 << 20}, {8000, 1s, 0}};
  CHECK(
      given_run(plan, stages).advice(plan) ==
      "cache: map(length(it)) makes the same 2000 elements in each of 4 epochs, in 4 s; cache() after it keeps them in "
      "memory (16 MiB, of at most half of the memory budget) and saves 3 s");
  CHECK(given_run(plan, stages).advice(plan, false).empty());  // the size of an epoch is unknown
  std::vector<figures> fast = stages;
  fast[2].busy = fast[3].busy = 200ms;
  CHECK(given_run(plan, fast).advice(plan).empty());
  const node_ptr draws = parse_plan("lines(\"a\") | map(length(it) + random(3)) | repeat(4)");
  CHECK(given_run(draws, {{8000, 0s, 0}, {8000, 9s, 0}, {8000, 1s, 0}}).advice(draws).empty());
  const node_ptr known = parse_plan("range(100) | map(it * 3) | filter(random() < 0.5) | repeat()");
  CHECK(given_run(known, {{50, 0s, 0}, {50, 1s, 0}, {250, 4s, 2500}, {250, 0s, 0}}).advice(known, false) ==
        "cache: map(it * 3) makes the same 100 elements in each of 2.5 epochs, in 4 s; cache() after it keeps them in "
        "memory (1000 B, of at most half of the memory budget) and saves 2.4 s");
  const node_ptr once = parse_plan("range(100) | map(it * 3) | repeat(1)");
  CHECK(given_run(once, {{100, 0s, 0}, {100, 9s, 0}, {100, 0s, 0}}).advice(once).empty());
}

TEST_CASE("a map that makes buffered elements smaller, as measured: the memory of the buffer after it") {
  const node_ptr plan = parse_plan("lines(\"a\") | shuffle(100) | map(upper(it))");
  given_run run(plan, {{400, 0s, 0}, {400, 0s, 0}, {400, 0s, 0}});
  site_report &map = run.sites[0], &shuffle = run.sites[1];
  map.each_bytes = 1024;
  shuffle.each_bytes = 65536;
  shuffle.memory = {{.stage = "shuffle", .peak_bytes = 6 << 20}, {.stage = "shuffle", .peak_bytes = 2 << 20}};
  CHECK(run.advice(plan) ==
        "shrink: map makes elements of 1 KiB from those of 64 KiB that shuffle(100) holds; upstream of it, the buffer "
        "needs 128 KiB and "
        "not 8 MiB, but its errors come at other elements");
  map.each_bytes = 40'000;  // not much smaller
  CHECK(run.advice(plan).empty());
  map.each_bytes = 1024;
  shuffle.memory = {{.stage = "shuffle", .peak_bytes = 1 << 20}};  // less than a MiB is saved
  CHECK(run.advice(plan).empty());
  shuffle.memory = {{.stage = "shuffle", .peak_bytes = 8 << 20}};
  const node_ptr draws = parse_plan("lines(\"a\") | shuffle(100) | map(upper(it) + text(random(3)))");
  run.sites[0].path = derive(0, draws->site);
  run.sites[1].path = derive(0, draws->inputs[0]->site);
  CHECK(run.advice(draws).empty());
  const node_ptr fixed = parse_plan("lines(\"a\") | shuffle(100) | map(length(it))");  // the optimizer moves it
  run.sites[0].path = derive(0, fixed->site);
  run.sites[1].path = derive(0, fixed->inputs[0]->site);
  CHECK(run.advice(fixed).empty());
}

TEST_CASE("a function that costs as much as its calls: the number of calls for batches") {
  const node_ptr plan = (range(9) | map([](std::int64_t x) { return x + 1; }) | batch(64)).plan();
  const std::vector<figures> stages = {{15625, 1s, 0}, {1'000'000, 2s, 0}, {1'000'000, 1s, 0}};
  CHECK(given_run(plan, stages).advice(plan).empty());  // 2 µs for an element
  std::vector<figures> cheap = {{312500, 1s, 0}, {20'000'000, 2s, 0}, {20'000'000, 1s, 0}};
  CHECK(given_run(plan, cheap).advice(plan) ==
        "vectorize: map takes 100 ns for an element, not much more than its call, and 20 % of the time; as a map of "
        "batches, "
        "after batch(64), it is called 312500 times and not 20000000");
  cheap[1].busy = 500ms;
  CHECK(given_run(plan, cheap).advice(plan).empty());
  const node_ptr expression = parse_plan("range(9) | map(it + 1) | batch(64)");
  CHECK(given_run(expression, {{312500, 1s, 0}, {20'000'000, 2s, 0}, {20'000'000, 1s, 0}}).advice(expression).empty());
}

}  // namespace sluice::lib::measured_advice_test
