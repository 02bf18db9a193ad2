// SPDX-License-Identifier: Apache-2.0
#include "service/core/dispatcher_core.hpp"

#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "dispatcher_driver.hpp"

namespace sluice::lib::dispatcher_core_test {
namespace {

const std::string kTakenOver = "another dispatcher has taken over the store; give each dispatcher a store of its own";

TEST_CASE("a dataset id, and a job name, mean one dataset and one mode") {
  driver d;
  d.open("c");
  dataset_info other;
  other.fingerprint = "beef";
  CHECK(d.refusal(register_dataset_request{"numbers", other}) ==
        "already_exists: dataset 'numbers' is registered with the fingerprint f00d, and this plan has beef. Use "
        "another dataset id");
  const auto first = d.ask(register_dataset_request{"", other}), second = d.ask(register_dataset_request{"", other});
  CHECK(first->dataset == second->dataset);
  CHECK(d.ask(get_dataset_request{first->dataset})->info.fingerprint == "beef");
  CHECK(d.refusal(get_dataset_request{"letters"}) ==
        "not_found: dataset 'letters' is not registered at this dispatcher");
  CHECK(d.refusal(driver::request("c", "j", sharding::off)) ==
        "failed_precondition: job 'j' reads dataset 'numbers' in mode 'dynamic', and this consumer asks for dataset "
        "'numbers' in mode 'off'. "
        "Use another job name");
  auto strange = driver::request("c");
  strange.target = "near";
  CHECK(d.refusal(strange) ==
        "invalid_argument: open_job: target must be any, local, remote or automatic, and is 'near'");
  CHECK(d.refusal(driver::request("", "k")) == "invalid_argument: open_job: the consumer has no name");
  auto unknown = driver::request("c", "k");
  unknown.dataset = "letters";
  CHECK(d.refusal(unknown) == "not_found: dataset 'letters' is not registered at this dispatcher");
}

TEST_CASE("static modes need a fixed list of workers, of the expected length") {
  driver none;
  none.open("c");
  CHECK(none.refusal(driver::request("c", "s", sharding::file)) ==
        "failed_precondition: mode 'file' needs a fixed list of workers, and this dispatcher was started without one");
  dispatcher_options o;
  o.fixed_workers = {"h0:1", "h1:%port%"};
  driver d(o);
  d.open("c");
  auto three = driver::request("c", "s", sharding::file);
  three.workers = 3;
  CHECK(d.refusal(three) == "failed_precondition: the client expects 3 workers, and the dispatcher's fixed list has 2");
  const std::string it = d.open("c", "s", sharding::file);
  d.beat("h0:1");
  d.beat("h1:7");
  d.beat("h2:1");
  const auto a = d.ask(next_split_request{it, "c", 0}), b = d.ask(next_split_request{it, "c", 1});
  CHECK(a->worker == "h0:1");
  CHECK(a->payload == R"({"shard":0,"shards":2})");
  CHECK(b->worker == "h1:7");
  CHECK(d.ask(next_split_request{it, "c", 2})->kind == split_answer::end);
}

TEST_CASE("entries of one host at any port stand for as many workers of that host") {
  dispatcher_options o;
  o.fixed_workers = {"h0:%port%", "h1:1", "h0:%port%"};
  driver d(o);
  const std::string it = d.open("c", "s", sharding::data);
  for (const char* worker : {"h0:8", "h1:1", "h0:7", "h0:9"}) d.beat(worker);
  d.now += std::chrono::seconds(1);
  for (const char* worker : {"h0:9", "h0:7"}) d.beat(worker);
  const auto a = d.ask(next_split_request{it, "c", 0}), b = d.ask(next_split_request{it, "c", 1}),
             c = d.ask(next_split_request{it, "c", 2});
  CHECK(a->worker == "h0:7");
  CHECK(b->worker == "h1:1");
  CHECK(c->worker == "h0:9");
}

TEST_CASE("nothing is answered before it is durable, and commits collect what arrives meanwhile") {
  driver d;
  const std::string it = d.open("c");
  const auto waits = d.send(next_split_request{it, "c", 0});
  d.holds_commits = true;
  d.listed({"a", "b", "c"});
  REQUIRE(d.commits.size() == 1);
  CHECK(d.answers.count(waits) == 0);
  const auto second = d.send(next_split_request{it, "c", 1});
  const auto third = d.send(next_split_request{it, "c", 2});
  CHECK(d.commits.size() == 1);
  d.commit_held();
  CHECK(d.reply<next_split_request>(waits)->payload == "a");
  CHECK(d.answers.count(second) == 0);
  REQUIRE(d.commits.size() == 1);
  d.commit_held();
  CHECK(d.reply<next_split_request>(second)->payload == "b");
  CHECK(d.reply<next_split_request>(third)->payload == "c");
  // What is known and durable needs no commit.
  CHECK(d.ask(next_split_request{it, "c", 1})->payload == "b");
}

TEST_CASE("an ordinal has one split for ever, also after a restart, and the end comes when nobody else has any") {
  driver d;
  const std::string it = d.open("c0");
  d.open("c1");
  d.send(next_split_request{it, "c0", 0});
  d.listed({"a", "b"});
  CHECK(d.ask(next_split_request{it, "c0", 0})->payload == "a");
  CHECK(d.ask(next_split_request{it, "c1", 0})->payload == "b");
  driver again({.token = "b"}, d.store);
  again.revision = d.revision;
  CHECK(again.core->epoch() == 2);
  CHECK(again.ask(next_split_request{it, "c1", 0})->payload == "b");
  CHECK(again.ask(next_split_request{it, "c0", 0})->payload == "a");
  CHECK(again.refusal(next_split_request{it, "c0", 3}) ==
        "failed_precondition: consumer 'c0' names its split 3, and only 1 were assigned: its checkpoint belongs to "
        "another run, or the "
        "dispatcher's store was lost");
  const auto held = again.send(next_split_request{it, "c0", 1});
  CHECK(again.answers.count(held) == 0);  // c1 has b
  CHECK(again.ask(progress_request{it, "c1", {1}, {}, 0, {}})->released.empty());
  CHECK(again.reply<next_split_request>(held)->kind == split_answer::end);
  CHECK(again.ask(progress_request{it, "c1", {0}, {}, 0, {}})->released == std::vector<std::uint64_t>{0});
}

TEST_CASE("a consumer that closes, or is silent for too long, returns its splits; its name cannot be used again") {
  driver d;
  auto r = driver::request("c0");
  d.open("c1");
  r.silence_max_ms = 1000;
  const std::string it = d.ask(r)->iteration;
  d.send(next_split_request{it, "c0", 0});
  d.listed({"a", "b"});
  CHECK(d.ask(next_split_request{it, "c1", 0})->payload == "b");
  const auto held = d.send(next_split_request{it, "c1", 1});
  d.now += std::chrono::milliseconds(1500);
  d.step({dispatcher_event::woken{}});
  CHECK(d.reply<next_split_request>(held)->payload == "a");
  CHECK(d.refusal(next_split_request{it, "c0", 0}) ==
        "aborted: consumer 'c0' was closed, or was silent for more than 1000 ms: other consumers read its splits. "
        "Resume under another name");
  CHECK(d.refusal(place_request{it, "c1", 7, 1, ""}) ==
        "aborted: split 7 of iteration '" + it + "' is not assigned to consumer 'c1'");
  CHECK(d.ask(close_consumer_request{it, "c1"}).ok());
  CHECK(d.refusal(next_split_request{it, "c1", 0}) ==
        "aborted: consumer 'c1' was closed: other consumers read its splits. Resume under another name");
}

TEST_CASE("a consumer that resumes reports what was finished before its checkpoint") {
  driver d;
  const std::string it = d.open("c0");
  d.open("c1");
  d.send(next_split_request{it, "c0", 0});
  d.listed({"a", "b", "c"});
  for (std::uint64_t k = 1; k < 3; ++k) CHECK(d.ask(next_split_request{it, "c0", k}).ok());
  const auto held = d.send(next_split_request{it, "c1", 0});
  CHECK(d.ask(progress_request{it, "c0", {}, {}, 2, {}}).ok());
  CHECK(d.answers.count(held) == 0);
  CHECK(d.ask(progress_request{it, "c0", {}, {}, 0, {2}}).ok());
  CHECK(d.reply<next_split_request>(held)->kind == split_answer::end);
  CHECK(d.refusal(progress_request{it, "c0", {}, {}, 9, {}})
            .starts_with("failed_precondition: consumer 'c0' names its split 8, and only 3"));
}

TEST_CASE("placement avoids the worker that failed, obeys tags and targets, and waits for a worker") {
  driver d;
  auto r = driver::request("c");
  d.open("other", "k");
  r.tags = {"gpu"};
  r.target = "automatic";
  r.host = "here";
  const std::string it = d.ask(r)->iteration;
  d.send(next_split_request{it, "c", 0});
  d.listed({"a", "b"});
  CHECK(d.ask(next_split_request{it, "c", 0})->worker.empty());
  const auto held = d.send(place_request{it, "c", 0, 1, ""});
  d.beat("plain:1");
  CHECK(d.answers.count(held) == 0);
  d.beat("far:1", {"gpu"});
  CHECK(d.reply<place_request>(held)->worker == "far:1");
  d.beat("near:1", {"gpu", "big"}, "here");
  const auto near = d.ask(next_split_request{it, "c", 1});
  CHECK(near->worker == "near:1");
  CHECK(near->is_local);
  CHECK(d.ask(place_request{it, "c", 1, 1, "near:1"})->worker == "far:1");
  CHECK(d.ask(remove_worker_request{"far:1"}).ok());
  CHECK(d.ask(place_request{it, "c", 1, 2, "near:1"})->worker == "near:1");  // nobody else
  d.now += std::chrono::seconds(10);
  const auto late = d.send(place_request{it, "c", 1, 3, ""});
  d.now += std::chrono::seconds(3);
  d.step({dispatcher_event::woken{}});
  CHECK(d.reply<place_request>(late)->kind == place_answer::wait);
}

TEST_CASE("mode off has a task for each worker, also for one that comes later, until the iteration has ended") {
  driver d;
  d.beat("w0:1");
  const std::string it = d.open("c", "j", sharding::off);
  CHECK(d.ask(next_split_request{it, "c", 0})->worker == "w0:1");
  const auto held = d.send(next_split_request{it, "c", 1});
  CHECK(d.answers.count(held) == 0);
  d.beat("w1:1");
  CHECK(d.reply<next_split_request>(held)->worker == "w1:1");
  CHECK(d.ask(remove_worker_request{"w1:1"}).ok());
  CHECK(d.ask(place_request{it, "c", 1, 1, "w1:1"})->kind == place_answer::removed);
  const auto last = d.send(next_split_request{it, "c", 2});
  CHECK(d.ask(progress_request{it, "c", {0}, {}, 0, {}}).ok());
  CHECK(d.reply<next_split_request>(last)->kind == split_answer::end);
  d.beat("w2:1");
  CHECK(d.ask(next_split_request{it, "c", 2})->kind == split_answer::end);
}

TEST_CASE("a finished iteration is removed after a while, and is not read again by mistake") {
  driver d({.remove_finished = std::chrono::seconds(60)});
  const std::string it = d.open("c");
  d.send(next_split_request{it, "c", 0});
  d.listed({"a"});
  CHECK(d.ask(progress_request{it, "c", {0}, {}, 0, {}}).ok());
  CHECK(d.store.count(store_key("done", it, 0)) == 1);
  d.now += std::chrono::seconds(61);
  d.step({dispatcher_event::woken{}});
  CHECK(d.store.count(store_key("done", it, 0)) == 0);
  CHECK(d.store.count(store_key("splits", it, 0)) == 0);
  CHECK(d.refusal(driver::request("late"))
            .starts_with("failed_precondition: iteration 0 of job 'j' has finished, and its splits were removed"));
  // An anonymous job ends with its consumer, and leaves nothing.
  const std::string own = d.open("solo", "");
  CHECK(d.ask(close_consumer_request{own, "solo"}).ok());
  CHECK(d.store.count(store_key("iteration", own)) == 0);
  CHECK(d.ask(close_consumer_request{own, "solo"}).ok());
}

TEST_CASE("a job whose name nobody knows ends with its consumer, and other jobs do not") {
  driver d;
  const std::string drawn = d.open("c", "run-1"), named = d.open("c", "j");
  CHECK(d.ask(close_consumer_request{drawn, "c", true}).ok());
  CHECK(d.ask(close_consumer_request{named, "c"}).ok());
  CHECK((d.store.count(store_key("iteration", drawn)) == 0 && d.store.count(store_key("job", "run-1")) == 0));
  CHECK((d.store.count(store_key("iteration", named)) == 1 && d.store.count(store_key("job", "j")) == 1));
  CHECK(d.open("d", "run-1") != drawn);
}

TEST_CASE("a dispatcher that is not used notices that another one has taken over") {
  driver d({.store_check = std::chrono::seconds(5)});
  const std::string it = d.open("c");
  for (int i = 0; i != 3; ++i) {  // nobody has: it goes on
    d.now += std::chrono::seconds(5);
    d.step({dispatcher_event::woken{}});
  }
  CHECK((d.stopped.ok() && d.open("c") == it));
  driver newer({.token = "b"}, d.store);
  d.store = newer.store;
  d.now += std::chrono::seconds(5);
  d.step({dispatcher_event::woken{}});
  CHECK(d.stopped.to_string() == "failed_precondition: " + kTakenOver);
}

TEST_CASE("a call that waits for other consumers is answered with the one that was silent for longest, and its split") {
  driver d;
  const std::string it = d.open("c1");
  d.open("c2");
  d.beat("w:1");
  d.send(next_split_request{it, "c1", 0});
  d.listed({"a"});
  d.now += std::chrono::seconds(20);
  const auto call = d.send(next_split_request{it, "c2", 0});
  d.now += std::chrono::seconds(2);
  d.step({dispatcher_event::woken{}});
  const auto wait = d.reply<next_split_request>(call);
  CHECK(wait->kind == split_answer::wait);
  CHECK(wait->silent_ms == 22'000u);
  CHECK(wait->why ==
        "1 split is with other consumers: split 0 has been with c1 for 22 s, and that consumer was silent for the last "
        "22 s; silence_max=… gives splits of a silent consumer to others");
}

TEST_CASE("reads that a worker does not name are no load for it") {
  driver d;
  d.beat("w1");
  const std::string it = d.open("gone"), other = d.open("lives", "k");
  std::uint64_t call = d.send(next_split_request{it, "gone", 0});
  d.listed({"a", "b", "c", "d"});
  for (std::uint64_t k = 1; k != 4; ++k) call = d.send(next_split_request{it, "gone", k});
  CHECK(d.reply<next_split_request>(call)->worker == "w1");
  d.now += std::chrono::seconds(6);
  d.beat("w1");  // the consumer was killed: the worker reads nothing
  d.beat("w2");
  call = d.send(next_split_request{other, "lives", 0});
  d.listed({"a", "b"});
  const std::string first = d.reply<next_split_request>(call)->worker;
  const std::string second = d.ask(next_split_request{other, "lives", 1})->worker;
  CHECK(first != second);
  // A read that runs counts again.
  d.now += std::chrono::seconds(6);
  (void)d.ask(heartbeat_request{.worker = "w1", .host = "", .tags = {}, .reads = {{it, 0, "gone"}, {it, 1, "gone"}}});
  CHECK(d.ask(status_request{})->workers[0].reads == 2);
}

TEST_CASE("a list of splits that fails is reported, and read again for the next call") {
  driver d;
  const std::string it = d.open("c");
  const auto first = d.send(next_split_request{it, "c", 0});
  d.step({dispatcher_event::splits_listed{it, 0, not_found_error("data/a.tfrecord"), {}, false}});
  CHECK(d.reply<next_split_request>(first).why().to_string() == "not_found: data/a.tfrecord");
  const auto second = d.send(next_split_request{it, "c", 0});
  REQUIRE(d.lists.size() == 2);
  d.listed({"a"}, false);
  CHECK(d.reply<next_split_request>(second)->payload == "a");
  CHECK(d.lists.back().round == 1);  // the pool runs low
}

TEST_CASE("a repeat of an empty list ends") {
  driver d;
  const std::string it = d.open("c");
  const auto call = d.send(next_split_request{it, "c", 0});
  d.listed({}, false);
  CHECK(d.reply<next_split_request>(call)->kind == split_answer::end);
}

TEST_CASE("an endless repeat ends after a round of splits without elements, also after a restart") {
  driver d;
  const std::string it = d.open("c");
  const auto first = d.send(next_split_request{it, "c", 0});
  const auto list = [&](std::uint64_t round) {
    dispatcher_event::splits_listed event{.iteration = it, .round = round, .why = {}, .payloads = {"a", "b"}};
    event.is_endless = true;
    d.lists.clear();
    d.step({std::move(event)});
  };
  list(0);
  CHECK(d.reply<next_split_request>(first)->split == 0);
  CHECK(d.ask(next_split_request{it, "c", 1})->split == 1);
  list(1);
  CHECK(d.ask(progress_request{it, "c", {0, 1}, {}, 0, {}, {{1}}}).ok());  // split 0 had elements
  CHECK(d.ask(next_split_request{it, "c", 2})->split == 2);
  CHECK(d.ask(next_split_request{it, "c", 3})->split == 3);
  CHECK(d.lists.size() == 1);
  CHECK(d.ask(progress_request{it, "c", {2}, {}, 0, {}, {{2}}}).ok());
  CHECK(d.ask(progress_request{it, "c", {2}, {}, 0, {}, {{2}}}).ok());  // a report that is repeated counts once
  CHECK(!d.core->describe(d.now).iterations.at(0).is_all_listed);
  CHECK(d.ask(progress_request{it, "c", {3}, {}, 0, {}, {{3}}}).ok());
  CHECK(d.ask(next_split_request{it, "c", 4})->kind == split_answer::end);
  driver again({.token = "b"}, d.store);
  CHECK(again.ask(next_split_request{it, "c", 4})->kind == split_answer::end);
}

TEST_CASE("local workers come first, and a job without a fitting worker is told what there is") {
  driver d;
  const auto beat = [&](const std::string& worker, const std::string& host, const std::string& process) {
    (void)d.ask(heartbeat_request{.worker = worker, .host = host, .tags = {"x"}, .reads = {}, .process = process});
  };
  beat("far", "h2", "p3");
  beat("near", "h1", "p2");
  beat("here", "h1", "p1");
  dataset_info info;
  info.plan = "range(9)";
  info.fingerprint = "f00d";
  (void)d.ask(register_dataset_request{"numbers", info});
  const auto placed = [&](const std::string& consumer, const std::string& target, const std::string& failed) {
    auto r = driver::request(consumer);
    r.target = target;
    r.host = "h1";
    r.process = "p1";
    const std::string it = d.ask(std::move(r)).value().iteration;
    const auto call = d.send(next_split_request{it, consumer, 0});
    if (!d.lists.empty()) d.listed({"a", "b", "c", "d", "e"});
    const std::uint64_t split = d.reply<next_split_request>(call)->split;
    return d.ask(place_request{it, consumer, split, 1, failed})->worker;
  };
  CHECK(placed("c1", "automatic", "") == "here");
  CHECK(placed("c2", "automatic", "here") == "near");
  CHECK(placed("c3", "remote", "") == "far");
  CHECK(placed("c4", "local", "here") == "near");
  auto r = driver::request("c", "tagged");
  r.tags = {"gpu", "x"};
  r.target = "local";
  r.host = "h1";
  const std::string it = d.ask(std::move(r)).value().iteration;
  const auto next = d.send(next_split_request{it, "c", 0});
  d.listed({"a"});
  const std::uint64_t split = d.reply<next_split_request>(next)->split;
  const auto call = d.send(place_request{it, "c", split, 0, ""});
  d.now += std::chrono::seconds(3);
  d.step({dispatcher_event::woken{}});
  CHECK(d.reply<place_request>(call)->kind == place_answer::wait);
  CHECK(d.reply<place_request>(call)->why ==
        "no worker fits: the job asks for local workers, and the consumer's host is h1 with the tags gpu, x; "
        "registered: far "
        "(host h2, tags x); here (host h1, tags x); near (host h1, tags x)");
}

TEST_CASE("a commit whose outcome is unknown is looked up before it is repeated") {
  driver d;
  const std::string it = d.open("c");
  d.holds_commits = true;
  const auto call = d.send(driver::request("c2"));
  REQUIRE(d.commits.size() == 1);
  const auto lost = d.commits.back();
  d.commits.clear();
  d.step({dispatcher_event::commit_ended{lost.id, unavailable_error("disk"), 0}});
  CHECK(d.reply<open_job_request>(call).why().to_string() ==
        "unavailable: the dispatcher cannot write to its store: unavailable: disk");
  CHECK(d.core->describe(d.now).store_error == "unavailable: disk");
  d.now += std::chrono::seconds(1);
  d.step({dispatcher_event::woken{}});
  REQUIRE(d.commits.size() == 1);
  CHECK(d.commits.back().writes.size() == lost.writes.size());
  CHECK(d.commits.back().guards[0].version == lost.guards[0].version);
  d.commit_held();
  CHECK(d.ask(next_split_request{it, "c2", 5}).why().code() == status_code::unknown);  // a denial waits for a commit
  d.commit_held();
  CHECK(d.core->describe(d.now).store_error.empty());
}

TEST_CASE("a dispatcher stops when another one has taken over") {
  driver d;
  const std::string it = d.open("c");
  driver newer({.token = "b"}, d.store);
  d.store = newer.store;
  d.holds_commits = true;
  const auto call = d.send(driver::request("c2"));
  d.step({dispatcher_event::commit_ended{d.commits.back().id, {}, 0}});
  CHECK(d.reply<open_job_request>(call).why().to_string() == "unavailable: " + kTakenOver);
  CHECK(d.stopped.to_string() == "failed_precondition: " + kTakenOver);
  CHECK(d.refusal(next_split_request{it, "c", 0}) == "unavailable: " + kTakenOver);
}

TEST_CASE("a damaged store is refused, and its key named") {
  driver d;
  const std::string it = d.open("c");
  d.send(next_split_request{it, "c", 0});
  d.listed({"a"});
  for (const std::string kind : {"round", "splits", "assigned", "iteration", "consumer", "job", "dataset", "epoch"}) {
    auto stored = d.store;
    for (auto& [key, entry] : stored)
      if (key.starts_with("/" + kind)) entry.value = "x";
    driver again({.token = "b"}, stored);
    CHECK(!again.core->is_leading());
    CHECK(again.stopped.code() == status_code::data_loss);
    CHECK(again.stopped.message().find(kind == "epoch" ? "record of the epoch" : kind) != std::string_view::npos);
  }
}

TEST_CASE(
    "a dispatcher with a million splits restarts from some thousand entries, and an assignment writes a few "
    "kilobytes") {
  constexpr std::uint64_t kSplits = 1'000'000, kConsumers = 16;
  driver d;
  std::string it;
  for (std::uint64_t c = 0; c < kConsumers; ++c) it = d.open(absl::StrCat("c", c));
  d.send(next_split_request{it, "c0", 0});
  std::vector<std::string> payloads;
  for (std::uint64_t s = 0; s < kSplits; ++s)
    payloads.push_back(absl::StrCat(R"({"stream":0,"part":0,"round":0,"number":)", s, R"(,"first":)", s * 100, "}"));
  d.listed(payloads);
  const std::uint64_t before = d.bytes_written;
  for (std::uint64_t s = 1; s < 1000; ++s) {
    CHECK(d.ask(next_split_request{it, absl::StrCat("c", s % kConsumers), s / kConsumers}).ok());
    CHECK(d.ask(progress_request{it, absl::StrCat("c", s % kConsumers), {s}, {}, 0, {}}).ok());
  }
  CHECK((d.bytes_written - before) / 999 < 4096);
  // As if all were assigned, and half of them done.
  for (std::uint64_t c = 0; c < kConsumers; ++c) {
    for (std::uint64_t k = 0; k * 256 < kSplits / kConsumers; ++k) {
      std::string value;
      for (std::uint64_t i = k * 256; i < std::min<std::uint64_t>(k * 256 + 256, kSplits / kConsumers); ++i)
        for (int b = 0; b < 8; ++b) value.push_back(static_cast<char>((i * kConsumers + c) >> 8 * b));
      const std::string key = store_key("assigned", it, k, absl::StrCat("c", c));
      d.store[key] = meta_entry(key, value, 1);
    }
  }
  for (std::uint64_t k = 0; k < kSplits / 2 / 4096; ++k)
    d.store[store_key("done", it, k)] = meta_entry(store_key("done", it, k), std::string(512, '\xff'), 1);
  const auto begun = std::chrono::steady_clock::now();
  driver again({.token = "b"}, d.store);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  CHECK(again.core->is_leading());
  CHECK(again.entries_listed < 5000);
  const status_reply state = again.core->describe(again.now);
  CHECK(state.iterations.at(0).listed == kSplits);
  CHECK(state.iterations.at(0).assigned == kSplits);
  CHECK(state.iterations.at(0).done == kSplits / 2 / 4096 * 4096);
  CHECK(again.ask(next_split_request{it, "c3", 7})->payload == payloads[7 * kConsumers + 3]);
  if (std::getenv("SLUICE_TEST_LOUD"))
    std::cout << "a dispatcher with 1,000,000 splits restarts in " << took.count() << " s\n";
}

}  // namespace
}  // namespace sluice::lib::dispatcher_core_test
