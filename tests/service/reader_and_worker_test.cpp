// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "service/core/consumer_core.hpp"
#include "service/core/split_reader_core.hpp"
#include "service/core/worker_core.hpp"

namespace sluice::lib::reader_and_worker_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A reader whose actions are words: "open 1 w:1 at 3".
struct reading {
  split_reader_core core;
  time_point now = time_point(std::chrono::hours(1));
  reading(reader_options o, std::string worker, std::uint64_t offset) : core(std::move(o), std::move(worker), offset) {}

  std::string step(reader_event e) {
    std::vector<reader_action> actions;
    core.step(std::move(e), now, actions);
    std::string words;
    for (const reader_action& a : actions) {
      const char* comma = words.empty() ? "" : ", ";
      if (const auto* x = std::get_if<reader_action::place>(&a.what))
        absl::StrAppend(&words, comma, "place ", x->attempt, " not ", x->failed);
      if (const auto* x = std::get_if<reader_action::open>(&a.what))
        absl::StrAppend(&words, comma, "open ", x->read, " ", x->worker, " at ", x->offset);
      if (const auto* x = std::get_if<reader_action::cancel>(&a.what))
        absl::StrAppend(&words, comma, "cancel ", x->read);
      if (const auto* x = std::get_if<reader_action::deliver>(&a.what))
        absl::StrAppend(&words, comma, "deliver ", x->count, " after ", x->cut);
      if (std::get_if<reader_action::end>(&a.what)) absl::StrAppend(&words, comma, "end");
      if (const auto* x = std::get_if<reader_action::no_worker>(&a.what))
        absl::StrAppend(&words, comma, "no worker: ", x->why);
      if (const auto* x = std::get_if<reader_action::fail>(&a.what))
        absl::StrAppend(&words, comma, "fail ", x->why.to_string());
    }
    return words;
  }
  std::string started() { return step({reader_event::started{}}); }
  std::string frame(std::uint64_t read, std::uint64_t first, std::uint64_t count, bool is_end = false) {
    return step({reader_event::frame{read, first, count, is_end}});
  }
  std::string broke(std::uint64_t read) { return step({reader_event::broke{read, unavailable_error("reset")}}); }
  std::string placed(const std::string& worker) { return step({reader_event::placed{place_answer::placed, worker}}); }
  std::string later(duration d) {
    now += d;
    return step({reader_event::woken{}});
  }
};

TEST_CASE("a reader delivers each element once, whatever the frames begin with") {
  reading r({}, "w:1", 3);
  CHECK(r.started() == "open 0 w:1 at 3");
  CHECK(r.frame(0, 2, 4) == "deliver 3 after 1");
  CHECK(r.frame(0, 4, 2) == "");
  CHECK(r.frame(0, 7, 1) == "cancel 0, place 1 not ");  // element 6 is missing
  CHECK(r.frame(0, 6, 1) == "");                        // of a read that was given up
  CHECK(r.placed("w:2") == "open 1 w:2 at 6");
  CHECK(r.frame(1, 6, 2, true) == "deliver 2 after 0, end");
  CHECK(r.core.offset() == 8);
  CHECK(r.core.is_over());
}

TEST_CASE("a reader looks for another worker at once when a read breaks, then with delays") {
  reading r({.delays = {.least = milliseconds(100), .most = seconds(1)}}, "", 0);
  CHECK(r.started() == "place 0 not ");
  CHECK(r.placed("w:1") == "open 0 w:1 at 0");
  CHECK(r.broke(0) == "place 1 not w:1");
  CHECK(r.placed("w:2") == "open 1 w:2 at 0");
  CHECK(r.broke(1) == "");
  CHECK(r.later(milliseconds(49)) == "");
  CHECK(r.later(milliseconds(51)) == "place 2 not w:2");
  CHECK(r.placed("w:1") == "open 2 w:1 at 0");
  CHECK(r.frame(2, 0, 1) == "deliver 1 after 0");
  CHECK(r.broke(2) == "place 3 not w:1");  // it has moved
}

TEST_CASE("a reader gives a silent worker up after the limit, unless its own consumer keeps it from reading") {
  reading r({.queued_max = 2}, "w:1", 0);
  r.started();
  CHECK(r.later(milliseconds(1900)) == "");
  CHECK(r.step({reader_event::keepalive{0}}) == "");
  CHECK(r.later(milliseconds(1900)) == "");
  CHECK(r.frame(0, 0, 2) == "deliver 2 after 0");
  CHECK(r.later(seconds(3600)) == "");
  CHECK(r.step({reader_event::took{1}}) == "");
  CHECK(r.later(milliseconds(2000)) == "cancel 0, place 1 not w:1");
  CHECK(r.later(seconds(5)) == "");                       // the dispatcher does not answer: a delay
  CHECK(r.later(milliseconds(20)) == "open 2 w:1 at 2");  // the last worker may have returned
  CHECK(r.broke(2) == "");
  CHECK(r.later(milliseconds(40)) == "place 3 not w:1");
}

TEST_CASE("a reader ends with the error of the elements, with the dispatcher's refusal, or after its time limit") {
  reading own({}, "w:1", 0);
  own.started();
  CHECK(own.step({reader_event::handler_error{0, data_loss_error("crc")}}) == "fail data_loss: crc");
  reading refused({}, "", 0);
  refused.started();
  CHECK(refused.step({reader_event::place_failed{not_found_error("no iteration")}}) == "fail not_found: no iteration");
  reading slow({.give_up_after = seconds(10)}, "w:1", 0);
  slow.started();
  slow.now += seconds(11);
  CHECK(slow.broke(0) ==
        "fail deadline_exceeded: the split brought no element for 11000 ms; the last error: unavailable: reset");
  reading gone({}, "", 0);
  gone.started();
  CHECK(gone.step({reader_event::placed{place_answer::removed, ""}}) == "end");
}

TEST_CASE("a reader without a worker warns once after the limit") {
  reading r({.warn_after = seconds(2)}, "", 0);
  CHECK(r.started() == "place 0 not ");
  auto wait = [&r] { return r.step({reader_event::placed{place_answer::wait, "", "no worker has registered"}}); };
  CHECK(wait() == "");
  CHECK(r.later(seconds(1)) == "place 0 not ");
  CHECK(wait() == "");
  CHECK(r.later(seconds(1)) == "place 0 not ");
  CHECK(wait() == "no worker: no worker has registered");
  CHECK(r.later(seconds(1)) == "place 0 not ");
  CHECK(wait() == "");
}

TEST_CASE("a split that breaks ends if it is visited at most once, and begins again if at least once") {
  reading most({.visitation = reader_options::visits::at_most_once}, "w:1", 0);
  most.started();
  CHECK(most.broke(0) == "place 1 not w:1");  // nothing was delivered
  most.placed("w:2");
  most.frame(1, 0, 5);
  CHECK(most.broke(1) == "end");
  reading least({.visitation = reader_options::visits::at_least_once}, "w:1", 0);
  least.started();
  least.frame(0, 0, 5);
  least.broke(0);
  CHECK(least.placed("w:2") == "open 1 w:2 at 0");
  CHECK(least.frame(1, 0, 5, true) == "deliver 5 after 0, end");
}

struct consuming {
  consumer_core core{{.iteration = "3.1", .consumer = "c", .give_up_after = seconds(30), .delays = {}}};
  time_point now = time_point(std::chrono::hours(1));
  std::vector<consumer_action> last;
  std::vector<service_request> step(consumer_event e) {
    last.clear();
    core.step(std::move(e), now, last);
    std::vector<service_request> calls;
    for (auto& a : last)
      if (auto* x = std::get_if<consumer_action::call>(&a.what)) {
        calls.push_back(x->request);
        id = x->id;
      }
    return calls;
  }
  template <class A> bool has() const {
    for (const auto& a : last)
      if (std::holds_alternative<A>(a.what)) return true;
    return false;
  }
  std::uint64_t id = 0;
};

TEST_CASE("a consumer repeats a call until the dispatcher answers, and fails with its refusal or after the limit") {
  consuming c;
  REQUIRE(c.step({consumer_event::wanted{4}}).size() == 1);
  const std::uint64_t lost = c.id;
  c.now += seconds(5);
  CHECK(c.step({consumer_event::woken{}}).size() <= 1);  // the report that it lives; the call waits
  c.now += milliseconds(50);
  const auto again = c.step({consumer_event::woken{}});
  REQUIRE(again.size() == 1);
  CHECK(std::get<next_split_request>(again[0]).ordinal == 4);
  next_split_reply split;
  split.kind = split_answer::split;
  split.split = 9;
  c.step({consumer_event::replied{lost, service_reply(split)}});
  CHECK(!c.has<consumer_action::got>());
  c.step({consumer_event::replied{c.id, service_reply(split)}});
  CHECK(c.has<consumer_action::got>());
  c.step({consumer_event::wanted{5}});
  c.step({consumer_event::replied{c.id, not_found_error("no iteration")}});
  CHECK(c.has<consumer_action::fail>());
  consuming slow;
  slow.step({consumer_event::wanted{0}});
  slow.now += seconds(31);
  slow.step({consumer_event::replied{slow.id, unavailable_error("down")}});
  REQUIRE(slow.has<consumer_action::fail>());
  CHECK(std::get<consumer_action::fail>(slow.last.at(0).what).why.to_string() ==
        "deadline_exceeded: the dispatcher did not answer for 31000 ms; the last error: unavailable: down");
}

TEST_CASE("a consumer that gets nothing for 30 s while it waits names the split that it waits for longest, once") {
  consuming c;
  c.core = consumer_core({.iteration = "3.1", .consumer = "c", .delays = {}});
  const auto stuck = [&] {
    c.step({consumer_event::woken{}});
    for (const auto& a : c.last)
      if (const auto* s = std::get_if<consumer_action::stuck>(&a.what))
        return s->worker + " " + std::to_string(s->split) + " at " + std::to_string(s->offset);
    return std::string();
  };
  c.step({consumer_event::delivered{4, 7}});
  c.now += seconds(100);
  CHECK(stuck() == "");  // nobody waits
  c.step({consumer_event::waits{4, "w:1"}});
  c.now += seconds(10);
  c.step({consumer_event::waits{5, "w:2"}});
  c.step({consumer_event::waits{4, "w:3"}});  // placed on another worker: it waits as long as before
  CHECK(stuck() == "");
  c.now += seconds(20);
  CHECK(stuck() == "w:3 4 at 7");
  c.now += seconds(60);
  CHECK(stuck() == "");
  c.step({consumer_event::delivered{5, 1}});  // progress
  c.now += seconds(29);
  CHECK(stuck() == "");
  c.now += seconds(1);
  CHECK(stuck() == "w:3 4 at 7");
  c.step({consumer_event::waits_no_more{4}});
  c.step({consumer_event::waits_no_more{5}});
  c.step({consumer_event::delivered{4, 8}});
  c.now += seconds(100);
  CHECK(stuck() == "");
  c.step({consumer_event::waits{4, ""}});
  c.now += seconds(29);
  CHECK(stuck() == "");
}

TEST_CASE("a consumer reports finished splits within 100 ms, or 64 at once, and before it closes") {
  consuming c;
  CHECK(c.step({consumer_event::finished{3}}).empty());
  c.step({consumer_event::delivered{5, 40}});
  c.now += milliseconds(100);
  const auto report = c.step({consumer_event::woken{}});
  REQUIRE(report.size() == 1);
  CHECK(
      to_json(std::get<progress_request>(report[0])) ==
      R"({"iteration":"3.1","consumer":"c","done":[3],"open":[{"split":5,"offset":40}],"done_below":0,"done_ordinals":[]})");
  for (std::uint64_t s = 10; s < 74; ++s) CHECK(c.step({consumer_event::finished{s}}).empty());  // one report at a time
  const auto next = c.step({consumer_event::replied{c.id, service_reply(progress_reply{})}});
  REQUIRE(next.size() == 1);
  CHECK(std::get<progress_request>(next[0]).done.size() == 64);
  c.step({consumer_event::finished{80}});
  CHECK(c.step({consumer_event::close{}}).empty());
  const auto rest = c.step({consumer_event::replied{c.id, service_reply(progress_reply{})}});
  REQUIRE(rest.size() == 1);
  CHECK(std::get<progress_request>(rest[0]).done == std::vector<std::uint64_t>{80});
  const auto close = c.step({consumer_event::replied{c.id, service_reply(progress_reply{})}});
  REQUIRE(close.size() == 1);
  CHECK(std::holds_alternative<close_consumer_request>(close[0]));
  c.step({consumer_event::replied{c.id, service_reply(close_consumer_reply{})}});
  CHECK(c.has<consumer_action::closed>());
}

TEST_CASE("a consumer says once that it waits for other consumers, or for the dispatcher") {
  consuming c;
  const next_split_reply wait{.payload = {}, .worker = {}, .why = "1 split is with other consumers"};
  c.step({consumer_event::wanted{0}});
  c.now += std::chrono::seconds(20);
  c.step({consumer_event::replied{c.id, service_reply(wait)}});
  CHECK(!c.has<consumer_action::waits_for_others>());
  c.now += std::chrono::seconds(20);
  c.step({consumer_event::replied{c.id, service_reply(wait)}});
  CHECK(c.has<consumer_action::waits_for_others>());
  c.now += std::chrono::seconds(40);
  c.step({consumer_event::replied{c.id, service_reply(wait)}});
  CHECK(!c.has<consumer_action::waits_for_others>());
  consuming alone;
  alone.core = consumer_core({.iteration = "3.1", .consumer = "c", .heartbeat = std::chrono::hours(1), .delays = {}});
  alone.step({consumer_event::wanted{0}});
  alone.step({consumer_event::replied{alone.id, unavailable_error("refused")}});
  CHECK(!alone.has<consumer_action::no_answer>());
  for (int i = 0; i != 8 && !alone.has<consumer_action::no_answer>(); ++i) {
    alone.now += std::chrono::seconds(1);
    alone.step({consumer_event::woken{}});
    alone.step({consumer_event::replied{alone.id, unavailable_error("refused")}});
  }
  CHECK(alone.has<consumer_action::no_answer>());
}

TEST_CASE("a consumer without a split fails after the limit if another one that has splits was silent for as long") {
  next_split_reply wait{.payload = {}, .worker = {}, .why = "split 3 has been with c2 for 95 s"};
  const auto outcome = [&](seconds patience, seconds silent, bool has_split) {
    consuming c;
    c.core = consumer_core({.iteration = "3.1", .consumer = "c", .give_up_after = patience, .delays = {}});
    if (has_split) c.step({consumer_event::delivered{1, 5}});
    c.step({consumer_event::wanted{0}});
    c.now += seconds(20);
    wait.silent_ms = static_cast<std::uint64_t>(milliseconds(silent).count());
    c.step({consumer_event::replied{c.id, service_reply(wait)}});
    if (!c.has<consumer_action::fail>()) return std::string("waits");
    return std::get<consumer_action::fail>(c.last.at(0).what).why.to_string();
  };
  CHECK(outcome(seconds(10), seconds(15), false) ==
        "deadline_exceeded: no split has come for 20000 ms: split 3 has been with c2 for 95 s");
  CHECK(outcome(seconds(10), seconds(15), true) == "waits");  // the elements of its own split come first
  CHECK(outcome(seconds(10), seconds(5), false) == "waits");
  CHECK(outcome(seconds(30), seconds(95), false) == "waits");
  CHECK(outcome(seconds(1), seconds(2), false) == "waits");  // a consumer that lives is heard of each second
}

TEST_CASE("a worker replaces a read by a later attempt, refuses an earlier one, and drains") {
  worker_core w({.address = "w:1", .incarnation = 1, .host = {}, .tags = {}});
  const time_point now(std::chrono::hours(1));
  std::vector<worker_action> out;
  const auto open = [&](std::uint64_t stream, std::uint64_t incarnation, std::uint64_t attempt) {
    read_request r;
    r.iteration = "3.1";
    r.consumer = "c";
    r.incarnation = incarnation;
    r.attempt = attempt;
    out.clear();
    w.step({worker_event::opened{stream, r}}, now, out);
  };
  open(1, 7, 1);
  CHECK(std::holds_alternative<worker_action::start>(out.at(0).what));
  open(2, 7, 2);
  CHECK(std::get<worker_action::cancel>(out.at(0).what).stream == 1);
  CHECK(std::get<worker_action::start>(out.at(1).what).stream == 2);
  w.step({worker_event::ended{1}}, now, out);
  CHECK(w.reads() == 1);
  open(3, 7, 1);
  CHECK(std::get<worker_action::refuse>(out.at(0).what).why.to_string() ==
        "aborted: attempt 2 of this read runs already");
  open(4, 8, 0);  // the consumer has restarted
  CHECK(std::get<worker_action::start>(out.at(1).what).stream == 4);
  out.clear();
  w.step({worker_event::drain{}}, now, out);
  CHECK(std::get<worker_action::heartbeat>(out.at(0).what).request.is_draining);
  open(5, 9, 0);
  CHECK(std::get<worker_action::refuse>(out.at(0).what).why.to_string() == "unavailable: worker w:1 drains");
  out.clear();
  w.step({worker_event::heartbeat_replied{heartbeat_reply{2, {{"3.1", 0, "c"}}}}}, now, out);
  CHECK(std::get<worker_action::cancel>(out.at(0).what).stream == 4);
  out.clear();
  w.step({worker_event::ended{4}}, now, out);
  CHECK(std::holds_alternative<worker_action::drained>(out.at(0).what));
}

}  // namespace
}  // namespace sluice::lib::reader_and_worker_test
