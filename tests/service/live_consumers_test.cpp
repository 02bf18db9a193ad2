// SPDX-License-Identifier: Apache-2.0
// Two live consumers of one name in a job: the last one that has begun gets the splits, and the other one an error.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>

#include <string>

#include "service/core/worker_core.hpp"
#include "service/dispatcher_driver.hpp"

namespace sluice::lib::live_consumers_test {

using dispatcher_core_test::driver;

TEST_CASE("calls of a consumer are refused after another one of its name has begun") {
  driver d;
  d.open("c1");
  auto opens = driver::request("c0");
  opens.incarnation = 1;
  opens.host = "alpha";
  const std::string it = d.ask(opens)->iteration;
  next_split_request first{it, "c0", 0, 1}, second{it, "c0", 0, 2};
  d.send(first);
  d.listed({"a", "b"});
  CHECK(d.ask(first)->payload == "a");
  opens.incarnation = 2;
  opens.host = "beta";
  CHECK(d.ask(opens)->iteration == it);
  const std::string refused =
      "aborted: consumer 'c0' of job '" + opens.job +
      "' is in use by another live consumer on beta, which has begun after this one: both would get the same splits. "
      "Give "
      "each consumer of a job a name of its own, such as consumer=\"rank0\", or stop one of them";
  CHECK(d.refusal(first) == refused);
  CHECK(d.refusal(place_request{it, "c0", 0, 1, "", 1}) == refused);
  progress_request done{
      .iteration = it, .consumer = "c0", .done = {0}, .open = {}, .done_ordinals = {}, .incarnation = 1};
  CHECK(d.refusal(done) == refused);
  opens.incarnation = 1;  // arrives late
  CHECK(d.refusal(opens) == refused);
  CHECK(d.ask(close_consumer_request{it, "c0", {}, 1}).ok());  // closes nothing
  CHECK(d.ask(second)->payload == "a");
  second.incarnation.reset();  // an older consumer is not compared
  CHECK(d.ask(second)->payload == "a");
  done.incarnation = 2;
  CHECK(d.ask(done)->released.empty());
}

TEST_CASE("each start of a consumer has a greater number than those before, also after a dispatcher's restart") {
  driver d;
  d.open("c1");
  auto opens = driver::request("c0");
  CHECK(!d.ask(opens)->start);  // an older consumer
  opens.incarnation = 1;
  const auto first = d.ask(opens)->start;
  CHECK(d.ask(opens)->start == first);  // a call that is repeated
  opens.incarnation = 2;
  const auto second = d.ask(opens)->start;
  driver again({.token = "b"}, d.store);
  opens.incarnation = 3;
  const auto third = again.ask(opens)->start;
  CHECK((first && second && third && *first < *second && *second < *third));
}

TEST_CASE("a dispatcher that restarts compares consumers again when one begins") {
  driver d;
  d.open("c1");
  auto opens = driver::request("c0");
  opens.incarnation = 2;
  const std::string it = d.ask(opens)->iteration;
  const next_split_request old{it, "c0", 0, 1}, last{it, "c0", 0, 2};
  d.send(last);
  d.listed({"a"});
  driver again({.token = "b"}, d.store);
  CHECK(again.ask(last)->payload == "a");
  opens.incarnation = 3;
  CHECK(again.ask(opens)->iteration == it);
  CHECK(again.refusal(last).starts_with("aborted: consumer 'c0' of job"));
  CHECK(again.refusal(old).starts_with("aborted: consumer 'c0' of job"));
}

TEST_CASE("a read that an earlier consumer of the name opens late does not break that of the later one") {
  worker_core w({.address = "w:1"});
  auto opened = [&](std::uint64_t stream, std::uint64_t incarnation, std::optional<std::uint64_t> start) {
    read_request r;
    r.consumer = "c0";
    r.incarnation = incarnation;
    r.start = start;
    std::vector<worker_action> out;
    w.step({worker_event::opened{stream, r}}, time_point(std::chrono::hours(1)), out);
    std::string words;
    for (const worker_action& a : out) {
      if (const auto* x = std::get_if<worker_action::cancel>(&a.what))
        absl::StrAppend(&words, "cancel ", x->stream, " ");
      if (const auto* x = std::get_if<worker_action::start>(&a.what)) absl::StrAppend(&words, "start ", x->stream);
      if (const auto* x = std::get_if<worker_action::refuse>(&a.what))
        absl::StrAppend(&words, "refuse ", x->stream, ": ", x->why.to_string());
    }
    return words;
  };
  CHECK(opened(1, 7, 5) == "start 1");
  CHECK(opened(2, 8, 6) == "cancel 1 start 2");
  CHECK(opened(3, 7, 5) == "refuse 3: unavailable: a later consumer 'c0' reads this split");
  CHECK(opened(4, 9, std::nullopt) == "cancel 2 start 4");  // an older version
}

TEST_CASE("a read that another consumer of the name opens is not the end of the first one") {
  worker_core w({.address = "w:1"});
  const time_point now(std::chrono::hours(1));
  auto opened = [&](std::uint64_t stream, std::uint64_t incarnation) {
    read_request r;
    r.iteration = "1.1";
    r.consumer = "c0";
    r.incarnation = incarnation;
    std::vector<worker_action> out;
    w.step({worker_event::opened{stream, r}}, now, out);
    std::string words;
    for (const worker_action& a : out)
      if (const auto* c = std::get_if<worker_action::cancel>(&a.what)) words += c->why.to_string();
    return words;
  };
  CHECK(opened(1, 7).empty());
  CHECK(opened(2, 8) == "unavailable: another consumer 'c0' has opened this read");
  CHECK(opened(3, 8) == "aborted: the consumer has opened this read again");
}

}  // namespace sluice::lib::live_consumers_test
