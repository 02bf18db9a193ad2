// SPDX-License-Identifier: Apache-2.0
#include "service/core/messages.hpp"

#include <catch2/catch.hpp>

#include <string>

namespace sluice::lib::messages_test {
namespace {

template <class Message> std::string again(const Message& m) {
  result<Message> back = from_json<Message>(to_json(m));
  return back.ok() ? to_json(*back) : back.why().to_string();
}

template <class Message> std::string refusal(std::string_view text) {
  const result<Message> r = from_json<Message>(text);
  return r.ok() ? "accepted" : r.why().to_string();
}

TEST_CASE("every message of the service is read back from its JSON") {
  dataset_info info{"range(9) | map(it * 2)", "f00d", "int64", 9,    "exactly_once", 3, 0, 0,
                    ~std::uint64_t{0},        2,      "skip",  {"p"}};
  const register_dataset_request added{"numbers", info};
  CHECK(from_json<register_dataset_request>(to_json(added))->info == info);
  info.cardinality.reset();
  CHECK(from_json<get_dataset_reply>(to_json(get_dataset_reply{info}))->info == info);

  open_job_request open{.job = "j",
                        .dataset = "numbers",
                        .stream = 1,
                        .iteration = 2,
                        .consumer = "c",
                        .mode = sharding::file_or_data,
                        .visitation = "at_most_once",
                        .first_round = 4,
                        .rounds = 5,
                        .seed = {},
                        .epoch = {},
                        .workers = 3,
                        .tags = {"gpu", "big"},
                        .target = "local",
                        .host = "h",
                        .silence_max_ms = 60'000};
  CHECK(again(open) == to_json(open));
  CHECK(from_json<open_job_request>(to_json(open))->mode == sharding::file_or_data);
  CHECK(from_json<open_job_request>(to_json(open))->rounds == 5u);
  CHECK(!from_json<open_job_request>(to_json(open))->seed);

  const next_split_request next{"3.1", "c \"quoted\" \n", 7};
  CHECK(to_json(next) == R"({"iteration":"3.1","consumer":"c \"quoted\" \n","ordinal":7})");
  CHECK(from_json<next_split_request>(to_json(next))->consumer == next.consumer);
  const next_split_reply split{split_answer::split, 12, 1, R"({"number":2})", "host:1", true, 5};
  CHECK(again(split) == to_json(split));
  CHECK(from_json<next_split_reply>(to_json(split))->payload == split.payload);

  CHECK(again(place_request{"3.1", "c", 12, 2, "host:1"}) ==
        R"({"iteration":"3.1","consumer":"c","split":12,"attempt":2,"failed":"host:1"})");
  CHECK(again(place_reply{place_answer::removed, "", false, 5}) ==
        R"({"kind":"removed","worker":"","is_local":false,"dispatcher_epoch":5})");
  CHECK(
      again(progress_request{"3.1", "c", {1, 2}, {{3, 44}}, 5, {7}}) ==
      R"({"iteration":"3.1","consumer":"c","done":[1,2],"open":[{"split":3,"offset":44}],"done_below":5,"done_ordinals":[7]})");
  CHECK(again(progress_reply{{3}, 5}) == R"({"released":[3],"dispatcher_epoch":5})");
  CHECK(again(close_consumer_request{"3.1", "c"}) == R"({"iteration":"3.1","consumer":"c"})");
  CHECK(again(close_consumer_reply{}) == "{}");
  const heartbeat_request beat{"host:1", 99, "host", {"gpu"}, 8, true, {{"3.1", 12, "c", 6, 2, 44, 1500}}};
  CHECK(again(beat) == to_json(beat));
  CHECK(from_json<heartbeat_request>(to_json(beat))->reads.at(0).age_ms == 1500);
  CHECK(again(heartbeat_reply{5, {{"3.1", 12, "c"}}}) ==
        R"({"dispatcher_epoch":5,"cancel":[{"iteration":"3.1","split":12,"consumer":"c"}]})");
  const status_reply state{
      5,
      1,
      17,
      "disk full",
      {{"host:1", "host", {}, 8, 2, 100, true, false}},
      {{"3.1", "j", "numbers", "dynamic", 0, 2, 1, 9, 4, 3, 0, true, false, {{12, "c", "host:1", 44, 2, 1500}}}}};
  CHECK(again(state) == to_json(state));
  const read_request read{"numbers", "3.1", 12, R"({"number":2})", 44, "c", 6, 2, "stop", "file", 7, 8};
  CHECK(again(read) == to_json(read));
}

TEST_CASE("a message with unknown members is accepted, and one that lacks a member names it") {
  const auto more = from_json<next_split_request>(R"({"iteration":"3.1","colour":"red","consumer":"c","ordinal":7})");
  REQUIRE(more.ok());
  CHECK(more->ordinal == 7);
  CHECK(refusal<next_split_request>(R"({"iteration":"3.1","ordinal":7})") ==
        "invalid_argument: not a message 'next_split': consumer must be a value, and it is missing");
  CHECK(refusal<next_split_request>(R"({"iteration":"3.1","consumer":"c","ordinal":-1})") ==
        "invalid_argument: not a message 'next_split': ordinal must be a whole number from 0 to 18446744073709551615");
  CHECK(refusal<next_split_request>(R"({"iteration":3,"consumer":"c","ordinal":1})") ==
        "invalid_argument: not a message 'next_split': iteration must be a text");
  CHECK(refusal<progress_request>(
            R"({"iteration":"3","consumer":"c","done":[],"open":[{"split":1,"offset":0},{"split":1}]})") ==
        "invalid_argument: not a message 'progress': open[1].offset must be a value, and it is missing");
  CHECK(refusal<place_reply>(R"({"kind":"perhaps","worker":"","is_local":false,"dispatcher_epoch":5})") ==
        "invalid_argument: not a message 'place (reply)': kind must be one of placed, wait, removed");
  CHECK(refusal<register_dataset_request>(R"({"dataset":"","info":7})") ==
        "invalid_argument: not a message 'register_dataset': info must be an object");
  CHECK(refusal<status_request>("[]") == "invalid_argument: not a message 'status': a JSON object is expected");
  CHECK(refusal<status_request>("{\"a\":") == "invalid_argument: not a message 'status': a JSON object is expected");
  CHECK(refusal<status_request>("") == "invalid_argument: not a message 'status': a JSON object is expected");
}

TEST_CASE("a name with bytes that are not UTF-8 does not make a message that cannot be read") {
  const auto back = from_json<close_consumer_request>(to_json(close_consumer_request{"3.1", "a\xff"}));
  REQUIRE(back.ok());
  CHECK(back->consumer == "a\xef\xbf\xbd");
}

TEST_CASE("each request names its method and its reply") {
  CHECK(method_of<next_split_request> == "next_split");
  STATIC_REQUIRE(std::is_same_v<reply_of<heartbeat_request>, heartbeat_reply>);
  CHECK(to_string(sharding::file_or_data) == "file_or_data");
  CHECK(is_static(sharding::hint));
  CHECK(!is_static(sharding::dynamic));
}

}  // namespace
}  // namespace sluice::lib::messages_test
