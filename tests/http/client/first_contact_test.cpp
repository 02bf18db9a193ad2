// SPDX-License-Identifier: Apache-2.0
// The attempts of requests to servers that have never been reached, and the reports of attempts.
#include <catch2/catch.hpp>

#include "http/http_world.hpp"
#include "http/whole_object.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::first_contact_test {
using namespace sluice::lib::testing;
using namespace std::chrono_literals;

TEST_CASE("a server that was never reached gets attempts for four seconds, a server that was reached gets them all") {
  std::vector<http_retry> reported;
  http_options options;
  options.on_retry = [&](const http_retry& next) { reported.push_back(next); };
  http_world w(7, options);
  std::optional<std::string> got;
  status why = w.run(http_world::keep<std::string>(read_all(*w.files, "http://objects:81/a?token=hidden", 10), got));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("objects:81: connection refused; no server has answered there yet"));
  CHECK(w.world.elapsed() < 5s);
  REQUIRE(!reported.empty());
  for (const http_retry& r : reported) {
    CHECK(r.file == "http://objects:81/a?token=***");
    CHECK_THAT(std::string(r.why.message()), Catch::Contains("connection refused"));
    CHECK(r.since + r.wait >= 1s);
    CHECK(r.attempts_max == 8);
  }
  // The same server, once it has been reached, may restart for longer.
  w.server.put("/a", "x", "\"v1\"");
  w.server.always({.end_after = true});
  CHECK(w.run(read_all(*w.files, kUrl, 10)) == "x");
  reported.clear();
  w.net->unplug("objects:80");
  why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 10), got));
  CHECK_THAT(why.to_string(), Catch::Contains("connection refused; that was the last attempt"));
  REQUIRE(!reported.empty());
  CHECK(reported.back().attempt == 8);
}

TEST_CASE("a name server that does not answer ends the first contact at the connect timeout") {
  struct mute final : network {
    task<std::unique_ptr<listener>> listen(std::string, time_point) override {
      co_await fail(unimplemented_error("not here"));
      co_return {};
    }
    task<std::unique_ptr<connection>> connect(std::string, time_point) override {
      co_await fail(unimplemented_error("not here"));
      co_return {};
    }
    task<std::vector<std::string>> resolve(std::string, time_point deadline) override {
      co_await sleep_until(deadline);
      co_await fail(status(status_code::deadline_exceeded, "objects: look up: not in time"));
      co_return {};
    }
  };
  simulation world(7);
  runtime rt{world};
  detail::http_file_system files(world, [] { return std::make_shared<mute>(); }, {}, 7);
  auto reading = read_all(files, kUrl, 10);
  const status why = sync_wait_result(rt.root(), std::move(reading)).why();
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("look up: not in time; no server has answered there yet"));
  CHECK(world.elapsed() == 10s);
}

TEST_CASE("with one attempt no request is sent again") {
  http_options options;
  options.attempts_max = 1;
  http_world w(7, options);
  w.server.put("/a", "x", "\"v1\"");
  w.server.script({{.code = 503}});
  std::optional<std::string> got;
  const status why = w.run(http_world::keep<std::string>(read_all(*w.files, kUrl, 10), got));
  CHECK(why.code() == status_code::unavailable);
  CHECK_THAT(why.to_string(), Catch::Contains("attempt 1: the server says 503"));
  CHECK(w.server.log().size() == 1);
  CHECK(w.files->counts().retries == 0);
}

}  // namespace sluice::lib::first_contact_test
