// SPDX-License-Identifier: Apache-2.0
// Dispatchers, workers and consumers over messages: in one process, and over a simulated network that breaks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "service/dispatcher_and_worker.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/message_transport.hpp"
#include "sluice/io/open_transport.hpp"
#include "sluice/io/simulated_network.hpp"
#include "sluice/op/lines.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/range.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/service/dispatcher.hpp"
#include "sluice/service/register_dataset.hpp"
#include "sluice/service/worker.hpp"
#include "support/budget.hpp"
#include "support/other_process.hpp"

namespace sluice::lib::processes_test {
namespace {

using namespace std::chrono_literals;
using numbers = std::vector<std::int64_t>;

numbers up_to(std::int64_t n) {
  numbers all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Reads a plan of numbers from a position, up to `most` of them. `saved`: the position after the last one.
task<numbers> read_all(runtime* rt, std::string plan, checkpoint from, std::size_t most, checkpoint* saved) {
  iterate_options how;
  how.from = std::move(from);
  any_stream s = open_run(*rt, parse_plan(plan), how);
  numbers got;
  while (got.size() < most) {
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::size_t>(most - got.size(), 50));
    auto b = co_await s.next_block(d);
    if (!b) break;
    for (std::uint32_t i = 0; i != b.size(); ++i) got.push_back(b.as<std::int64_t>()[i]);
  }
  *saved = s.position();
  auto closing = cleanup(std::move(s));
  co_await closing;
  co_return got;
}

struct chaos {
  simulation* world;
  simulated_network* net;
  bool is_over = false;
};

/// Cuts off one worker after the other, or the dispatcher, for up to six seconds each.
task<> cut_off(chaos* c) {
  while (!c->is_over) {
    const std::string address = "m" + std::to_string(c->world->random(4)) + ":1";
    c->net->unplug(address);
    const auto time = std::chrono::milliseconds(1 + c->world->random(6'000));
    sleep_for gone(time);
    co_await gone;
    c->net->plug(address);
    const auto pause = std::chrono::milliseconds(c->world->random(2'000));
    sleep_for resting(pause);
    co_await resting;
  }
}

task<> read_through_chaos(runtime* rt, chaos* c, numbers* got) {
  dispatcher_config config;
  config.listen = "m0:1";
  auto starting = dispatcher::start(*rt, config);
  dispatcher d = co_await starting;
  std::vector<worker> workers;
  for (int i = 1; i != 4; ++i) {
    worker_config w;
    w.listen = "m" + std::to_string(i) + ":1";
    auto beginning = worker::start(*rt, d.address(), w);
    workers.push_back(co_await beginning);
  }
  environment* env = co_await this_environment();
  scope breaking(*env);
  breaking.spawn(cut_off(c));
  const std::string plan =
      "range(600) | filter(it >= 0) | sleep(20ms) | distribute(\"m0:1\", splits=12, splits_at_once=3)";
  checkpoint half, end;
  auto first = read_all(rt, plan, {}, 250, &half);
  auto some = co_await first.as_result();
  if (some.ok()) *got = *std::move(some);
  auto second = read_all(rt, plan, half, 10'000, &end);
  auto rest = co_await second.as_result();
  if (rest.ok()) got->insert(got->end(), rest->begin(), rest->end());
  c->is_over = true;
  co_await breaking.join();
  for (worker& w : workers) {
    auto closing = w.close();
    co_await closing;
  }
  auto closing = d.close();
  co_await closing;
}

}  // namespace

TEST_CASE("a plan is read from a dispatcher and workers in one process, and these end") {
  runtime rt({.workers = 2});
  set_transport(rt, make_local_transport());
  dispatcher d(rt, {.listen = ""});
  worker a(rt, d.address(), {.listen = ""}), b(rt, d.address(), {.listen = ""});
  checkpoint end;
  const std::string to = "distribute(\"" + d.address() + "\", splits=7)";
  CHECK(sync_wait(rt, read_all(&rt, "range(100) | filter(it >= 0) | " + to, {}, 1000, &end)) == up_to(100));
  CHECK(d.status_json().find("\"done\":7") != std::string::npos);
  CHECK(d.why_stopped().ok());
  sync_wait(rt, a.drain());
  CHECK(sync_wait(rt, read_all(&rt, "range(50) | filter(it >= 0) | " + to, {}, 1000, &end)) == up_to(50));
  sync_wait(rt, b.close());
  sync_wait(rt, d.close());
  CHECK_THROWS_WITH(
      dispatcher(rt, {.store = "redis:x"}),
      "invalid_argument: there is no metadata store \"redis:x\"; write sqlite:PATH, or nothing for one in "
      "memory");
}

TEST_CASE("a registered dataset has an id, and what cannot be sent to another process is refused") {
  runtime rt({.workers = 2});
  set_transport(rt, make_local_transport());
  dispatcher d(rt, {.listen = ""});
  const std::string id = sync_wait(rt, register_dataset(rt, d.address(), range(3), "three"));
  CHECK(id == "three");
  CHECK(sync_wait(rt, register_dataset(rt, d.address(), range(3), "three")) == "three");
  CHECK_THROWS_WITH(sync_wait(rt, register_dataset(rt, d.address(), range(4), "three")),
                    Catch::StartsWith("already_exists: dataset 'three' is registered"));
  const std::string made = sync_wait(rt, register_dataset(rt, d.address(), range(4)));
  CHECK(made == sync_wait(rt, register_dataset(rt, d.address(), range(4))));
  CHECK(made != sync_wait(rt, register_dataset(rt, d.address(), range(5))));
  auto twice = range(3) | map([](std::int64_t x) { return 2 * x; });
  CHECK_THROWS_WITH(sync_wait(rt, register_dataset(rt, d.address(), twice)),
                    Catch::StartsWith("failed_precondition: the plan cannot be sent to workers") &&
                        Catch::Contains("SLUICE_FUNCTION"));
  CHECK_THROWS_WITH(sync_wait(rt, register_dataset(rt, d.address(), lines("-"))),
                    Catch::Contains("reads standard input"));
  sync_wait(rt, d.close());
}

namespace {

/// Reads `most` elements, or those that are left.
task<> read_some(any_stream& s, std::size_t most, numbers& got) {
  for (std::size_t n = 0; n < most;) {
    demand d;
    d.elements = static_cast<std::uint32_t>(std::min<std::size_t>(most - n, 50));
    auto b = co_await s.next_block(d);
    if (!b) break;
    for (std::uint32_t i = 0; i != b.size(); ++i) got.push_back(b.as<std::int64_t>()[i]);
    n += b.size();
  }
}

}  // namespace

TEST_CASE("a worker of this process that is closed while its split is read is replaced where it stands") {
  runtime rt({.workers = 2});
  set_transport(rt, make_local_transport());
  dispatcher d(rt, {.listen = ""});
  worker a(rt, d.address(), {.listen = ""});
  numbers got;
  const std::string plan = "range(3000) | filter(it >= 0) | distribute(\"" + d.address() + "\", splits=2)";
  any_stream s = open_run(rt, parse_plan(plan), {});
  sync_wait(rt, read_some(s, 100, got));
  CHECK(a.reads() >= 1);
  worker b(rt, d.address(), {.listen = ""});
  sync_wait(rt, a.close());
  sync_wait(rt, read_some(s, 10'000, got));
  CHECK(got == up_to(3000));
  CHECK(b.reads() == 0);
  sync_wait(rt, cleanup(std::move(s)));
  sync_wait(rt, b.close());
  sync_wait(rt, d.close());
}

namespace {

task<> read_stuck(runtime* rt, std::vector<std::string>* warnings, std::string* status) {
  auto starting = test::start_pair(*rt, "m0:1", "m1:1");
  test::dispatcher_and_worker pair = co_await starting;
  const std::string plan = "range(3) | filter(it >= 0) | sleep(100s) | distribute(\"m0:1\", splits=1)";
  any_stream s = open_run(*rt, parse_plan(plan), {});
  numbers got;
  auto first = read_some(s, 1, got);
  co_await first;
  *warnings = s.report().warnings;
  *status = pair.d.status_json();
  sleep_for paused(std::chrono::minutes(10));  // the consumer's own time
  co_await paused;
  auto second = read_some(s, 1, got);
  co_await second;
  warnings->push_back(std::to_string(s.report().warnings.size()));
  auto closing = cleanup(std::move(s));
  co_await closing;
  auto closing_pair = test::close_pair(pair);
  co_await closing_pair;
}

task<run_report> read_skipping(runtime* rt, std::string plan, numbers* got) {
  iterate_options how;
  how.on_error = error_policy::skip;
  any_stream s = open_run(*rt, parse_plan(plan), how);
  auto reading = read_some(s, 1000, *got);
  co_await reading;
  const run_report report = s.report();
  auto closing = cleanup(std::move(s));
  co_await closing;
  co_return report;
}

}  // namespace

TEST_CASE("a split without an element for 30 s is named once, with its worker, while an element is awaited") {
  simulation world(7);
  simulated_network net(world, {});
  runtime rt(world);
  set_transport(rt, make_message_transport(net));
  std::vector<std::string> warnings;
  std::string status;
  sync_wait(rt, read_stuck(&rt, &warnings, &status));
  CHECK(warnings ==
        std::vector<std::string>{"split 0 is stuck: element 0 has not come for 30 s from worker m1:1. sluice "
                                 "status m0:1 shows the splits in flight",
                                 "3"});  // the others are read ahead, and then nothing is awaited
  CHECK(status.find("\"waited_ms\":") != std::string::npos);
  set_transport(rt, nullptr);
}

TEST_CASE("bad elements that workers drop are in the consumer's report, by their stages") {
  for (const bool is_remote : {false, true}) {
    runtime rt({.workers = 2});
    const std::shared_ptr<message_transport> there = make_local_transport();
    set_transport(rt, there);
    dispatcher d(rt, {.listen = ""});
    worker a(rt, d.address(), {.listen = ""});
    if (is_remote) set_transport(rt, std::make_shared<test::other_process>(there));
    numbers got;
    const std::string plan = "range(20) | map(60 / (it % 10 - 3)) | filter(10 / (it + 60) < 99) | distribute(\"" +
                             d.address() + "\", splits=4)";
    const run_report report = sync_wait(rt, read_skipping(&rt, plan, &got));
    CHECK(got.size() == 16);
    CHECK(report.errors == 4);
    REQUIRE(report.errors_by_stage.size() == 2);
    for (const stage_errors& stage : report.errors_by_stage) CHECK(stage.errors == 2);
    CHECK((report.errors_by_stage[0].stage == "map(60 / (it % 10 - 3))" ||
           report.errors_by_stage[1].stage == "map(60 / (it % 10 - 3))"));
    REQUIRE(!report.first_errors.empty());
    CHECK(report.first_errors[0].to_string().find("division by zero") != std::string::npos);
    sync_wait(rt, a.close());
    sync_wait(rt, d.close());
  }
}

namespace {

ledger_line_report arriving(runtime& rt) {
  for (const ledger_line_report& l : rt.ledger().report().lines)
    if (l.stage == "distribute" && l.held_for == purpose::read_ahead) return l;
  return {};
}

}  // namespace

TEST_CASE("bytes that may arrive from workers are charged, and stay within a small budget") {
  constexpr std::size_t kBudget = std::size_t{2} << 20, kLeast = std::size_t{256} << 10, kSplits = 8;
  for (const std::size_t budget : {kBudget, std::size_t{1} << 30}) {
    runtime rt({.workers = 2, .memory_budget_bytes = budget});
    const std::shared_ptr<message_transport> there = make_local_transport();
    set_transport(rt, there);
    dispatcher d(rt, {.listen = ""});
    worker a(rt, d.address(), {.listen = ""});
    set_transport(rt, std::make_shared<test::other_process>(there));
    checkpoint end;
    const std::string plan = "range(600000) | filter(it >= 0) | distribute(\"" + d.address() +
                             "\", splits=8, splits_at_once=8) | batch(100000) | unbatch";
    CHECK(sync_wait(rt, read_all(&rt, plan, {}, 600'000, &end)) == up_to(600'000));
    const ledger_line_report line = arriving(rt);
    CHECK(line.used_bytes == 0);
    CHECK(line.peak_bytes >= kLeast);
    // The credit of the splits, and the frame of each that is used.
    if (budget == kBudget) CHECK(line.peak_bytes <= kBudget + 2 * kSplits * kLeast + kSplits * 4096);
    else CHECK(line.peak_bytes >= kSplits * (std::size_t{4} << 20));
    sync_wait(rt, a.close());
    sync_wait(rt, d.close());
  }
}

TEST_CASE("bad elements that a worker makes again for a later split count once") {
  runtime rt({.workers = 2});
  numbers got;
  const std::string dropping = "range(20) | map(60 / (it % 10 - 3))";
  (void)sync_wait(rt, read_skipping(&rt, dropping + " | ignore_errors | distribute(splits=4)", &got));
  CHECK(std::exchange(got, {}).size() == 18);
  const run_report report = sync_wait(rt, read_skipping(&rt, dropping + " | distribute(splits=4)", &got));
  CHECK(got.size() == 18);
  CHECK(report.errors == 2);
  REQUIRE(report.first_errors.size() == 2);
  CHECK(report.first_errors[0].where().element == 3);
  CHECK(report.first_errors[1].where().element == 13);
}

namespace {

/// Cuts off the dispatcher for a minute, and counts what the consumer gets meanwhile.
task<> cut_off_dispatcher(simulated_network* net, const numbers* got, std::size_t* before, std::size_t* after) {
  sleep_for reading(1500ms);
  co_await reading;
  net->unplug("m0:1");
  *before = got->size();
  sleep_for gone(60s);
  co_await gone;
  *after = got->size();
  net->plug("m0:1");
}

task<> read_without_dispatcher(runtime* rt, simulated_network* net, numbers* got, std::size_t* before,
                               std::size_t* after) {
  auto starting = test::start_pair(*rt, "m0:1", "m1:1");
  test::dispatcher_and_worker pair = co_await starting;
  any_stream s = open_run(
      *rt, parse_plan("range(600) | filter(it >= 0) | sleep(20ms) | distribute(\"m0:1\", splits=12, splits_at_once=4)"),
      {});
  environment* env = co_await this_environment();
  scope cutting(*env);
  cutting.spawn(cut_off_dispatcher(net, got, before, after));
  while (auto b = co_await s.next_block({0, 1}))
    for (std::uint32_t i = 0; i != b.size(); ++i) got->push_back(b.as<std::int64_t>()[i]);
  co_await cutting.join();
  auto closing = cleanup(std::move(s));
  co_await closing;
  auto closing_pair = test::close_pair(pair);
  co_await closing_pair;
}

/// Reads all, with or without a pause of the dispatcher, and returns its status right after the end.
task<> read_and_ask(runtime* rt, simulated_network* net, std::string* status) {
  auto starting = test::start_pair(*rt, "m0:1", "m1:1");
  test::dispatcher_and_worker pair = co_await starting;
  any_stream s = open_run(
      *rt,
      parse_plan("range(60) | filter(it >= 0) | sleep(20ms) | distribute(\"m0:1\", splits=4, splits_at_once=4, "
                 "job=\"j\", consumer=\"c\")"),
      {});
  numbers got, unused;
  std::size_t before = 0, after = 0;
  environment* env = co_await this_environment();
  scope cutting(*env);
  auto first = read_some(s, 5, got);
  co_await first;
  cutting.spawn(cut_off_dispatcher(net, &unused, &before, &after));
  auto rest = read_some(s, 1000, got);
  co_await rest;
  *status = pair.d.status_json();
  co_await cutting.join();
  auto closing = cleanup(std::move(s));
  co_await closing;
  auto closing_pair = test::close_pair(pair);
  co_await closing_pair;
}

}  // namespace

TEST_CASE("a consumer that ends has reported all of its splits") {
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    CAPTURE(seed);
    simulation world(seed);
    simulated_network net(world, {});
    runtime rt(world);
    set_transport(rt, make_message_transport(net));
    std::string status;
    sync_wait(rt, read_and_ask(&rt, &net, &status));
    CHECK(status.find("\"done\":4") != std::string::npos);
    set_transport(rt, nullptr);
  }
}

TEST_CASE("splits that are being read come to their end while the dispatcher is away") {
  for (std::uint64_t seed = test::first_seed(); seed != test::first_seed() + test::cases(10); ++seed) {
    CAPTURE(seed);
    simulation world(seed);
    simulated_network net(world, {});
    runtime rt(world);
    set_transport(rt, make_message_transport(net));
    numbers got;
    std::size_t before = 0, after = 0;
    sync_wait(rt, read_without_dispatcher(&rt, &net, &got, &before, &after));
    CHECK(before < 300);
    CHECK(after >= 400);  // splits 4 to 7, of 50 elements each, were in flight
    CHECK(got == up_to(600));
    set_transport(rt, nullptr);
  }
}

TEST_CASE("each element comes once while workers and the dispatcher are cut off, and after a resume") {
  for (std::uint64_t seed = test::first_seed(); seed != test::first_seed() + test::cases(12); ++seed) {
    CAPTURE(seed);
    simulation world(seed);
    simulated_network net(world, {.break_chance = 0.002});
    runtime rt(world);
    set_transport(rt, make_message_transport(net));
    chaos c{&world, &net};
    numbers got;
    sync_wait(rt, read_through_chaos(&rt, &c, &got));
    CHECK(got == up_to(600));
    set_transport(rt, nullptr);
  }
}

}  // namespace sluice::lib::processes_test
