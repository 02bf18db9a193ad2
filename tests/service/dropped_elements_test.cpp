// SPDX-License-Identifier: Apache-2.0
// Bad elements that workers drop, of a consumer that stores them: they are counted and stored at their places.
#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/quarantine/quarantine_file.hpp"
#include "io/temporary_folder.hpp"
#include "runtime/sites/error_account.hpp"
#include "service/host/dropped_collector.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/message_transport.hpp"
#include "sluice/io/open_transport.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/worker.hpp"
#include "support/other_process.hpp"

namespace sluice::lib::dropped_elements_test {
namespace {

/// The number of bad elements that the report has counted after each element, and at the end.
task<std::vector<std::uint64_t>> counts_of(runtime* rt, std::string plan, std::string into) {
  iterate_options how;
  how.on_error = error_policy::skip;
  how.quarantine = quarantine(into);
  any_stream s = open_run(*rt, parse_plan(plan), how);
  std::vector<std::uint64_t> counts;
  for (;;) {
    demand one;
    one.elements = 1;
    auto b = co_await s.next_block(one);
    counts.push_back(s.report().errors);
    if (!b) break;
  }
  auto closing = cleanup(std::move(s));
  co_await closing;
  co_return counts;
}

std::vector<std::string> splits_in(const std::string& path) {
  std::vector<std::string> all;
  for (std::uint64_t k = 0;; ++k) {
    const result<stored_error> e = read_quarantined(path, k);
    if (!e.ok()) return all;
    all.push_back(e->split + ": " + std::to_string(e->why.where().element));
  }
}

std::string sent(dropped_collector& from) {
  std::string all = std::to_string(from.first()) + ":";
  for (const dropped_element& e : from.take())
    all += " " + std::string(e.why.message()) + (e.times > 1 ? "x" + std::to_string(e.times) : "");
  return all;
}

}  // namespace

TEST_CASE("what workers drop is counted and stored where a run without workers does") {
  for (const bool is_remote : {false, true}) {
    runtime rt({.workers = 2});
    testing::temporary_folder folder;
    const std::shared_ptr<message_transport> there = make_local_transport();
    set_transport(rt, there);
    dispatcher d(rt, {.listen = ""});
    worker a(rt, d.address(), {.listen = ""}), b(rt, d.address(), {.listen = ""});
    if (is_remote) set_transport(rt, std::make_shared<test::other_process>(there));
    const std::string plan = "range(40) | filter(it >= 0) | map(60 / (it % 10 - 3)) | filter(10 / (it + 60) < 99)";
    const std::string direct = folder.path("direct.jsonl"), over = folder.path("over.jsonl");
    const auto expected = sync_wait(rt, counts_of(&rt, plan, direct));
    CHECK(sync_wait(rt, counts_of(&rt, plan + " | distribute(\"" + d.address() + "\", splits=4)", over)) == expected);
    CHECK(splits_in(direct).size() == 8);
    std::vector<std::string> places;
    for (int i = 0; i != 4; ++i) {
      const std::string split = "split " + std::to_string(i) + " (elements " + std::to_string(10 * i) + " to " +
                                std::to_string(10 * i + 9) + "): ";
      places.push_back(split + "2");
      places.push_back(split + "3");
    }
    CHECK(splits_in(over) == places);
    sync_wait(rt, a.close());
    sync_wait(rt, b.close());
    sync_wait(rt, d.close());
  }
}

TEST_CASE("a split that is read again sends only the bad elements that the consumer lacks") {
  const auto drop = [](dropped_collector& to, std::initializer_list<const char*> all) {
    const std::unique_ptr<quarantine_sink> sink = to.sink_of("");
    for (const char* each : all) CHECK(sink->keep({invalid_argument_error(each).in_stage("map")}).ok());
  };
  const auto first = std::make_shared<dropped_collector>(0, std::vector<dropped_elements>());
  drop(*first, {"a", "b"});
  CHECK(sent(*first) == "0: a b");
  CHECK(first->empty());
  drop(*first, {"c"});
  CHECK(sent(*first) == "2: c");
  const auto again = std::make_shared<dropped_collector>(2, std::vector<dropped_elements>());
  drop(*again, {"a"});
  CHECK(again->empty());
  drop(*again, {"b", "c", "d"});
  CHECK(sent(*again) == "2: c d");
  // One of them belongs to the split before.
  const auto later = std::make_shared<dropped_collector>(1, std::vector<dropped_elements>{{"map", 1, {}}});
  drop(*later, {"before", "a", "b"});
  CHECK(sent(*later) == "1: b");
}

}  // namespace sluice::lib::dropped_elements_test
