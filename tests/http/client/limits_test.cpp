// SPDX-License-Identifier: Apache-2.0
// How many requests there are at once, and when one is sent twice.
#include <catch2/catch.hpp>

#include "http/http_world.hpp"
#include "io/http/connections/concurrency_limit.hpp"
#include "io/http/connections/first_byte_times.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/io/read_file.hpp"

namespace sluice::lib::limits_test {

namespace lib = sluice::lib;
using namespace sluice::lib::testing;
using namespace std::chrono_literals;
using detail::concurrency_limit;
using detail::first_byte_times;

namespace {

/// A server that takes so many requests at once: each takes some 100 ms, and a further one is told off.
struct modelled_server {
  std::uint32_t takes = 16;
  std::uint32_t now = 0, most = 0;
  std::uint64_t served = 0, refused = 0;
};

task<> ask_always(concurrency_limit& limit, modelled_server& server, time_point until, simulation& time) {
  while (time.now() < until) {
    auto permit = co_await limit.acquire();
    server.most = std::max(server.most, ++server.now);
    const bool is_taken = server.now <= server.takes;
    const duration takes = is_taken ? duration(80ms) + std::chrono::microseconds(time.random(40'000)) : duration(5ms);
    co_await sleep_for(takes);
    --server.now;
    if (is_taken) {
      limit.answered(takes);
      limit.received(1 << 20);
      ++server.served;
    } else {
      limit.throttled(permit);
      ++server.refused;
      permit = {};
      co_await sleep_for(200ms);  // as a request does before its next attempt
    }
  }
}

task<> ask_from_many(simulation& world, concurrency_limit& limit, modelled_server& server, int callers,
                     duration how_long) {
  environment* env = co_await this_environment();
  scope all(*env);
  for (int i = 0; i != callers; ++i) all.spawn(ask_always(limit, server, env->time->now() + how_long, world));
  co_await all.join();
}

task<> wait_for_permit(concurrency_limit& limit) {
  auto permit = co_await limit.acquire();
  (void)permit;
}
task<> stopped_wait(concurrency_limit& limit) {
  environment* env = co_await this_environment();
  auto held = co_await limit.acquire();
  scope all(*env);
  all.spawn(wait_for_permit(limit));
  all.spawn(wait_for_permit(limit));
  all.request_stop();
  co_await all.join();
}

}  // namespace

TEST_CASE("the limit grows while that brings more, and no further than allowed") {
  simulation world(1);
  concurrency_limit limit(world, 4, 20);
  modelled_server server{.takes = 1000};
  sync_wait(world, ask_from_many(world, limit, server, 100, 10s));
  CHECK(limit.limit() == 20);
  CHECK(server.most == 20);
  CHECK(limit.in_use() == 0);
}

TEST_CASE("a server that is asked for too much is asked for half as much, and for more again later") {
  simulation world(2);
  concurrency_limit limit(world, 64, 256);
  modelled_server server{.takes = 16};
  sync_wait(world, ask_from_many(world, limit, server, 100, 60s));
  CHECK(limit.limit() <= 20);
  // What it could have served in that time is 16 in 100 ms.
  CHECK(server.served >= 16 * 600 * 3 / 4);
  CHECK(server.refused < server.served / 8);  // of more than 12 in 100 the limit is halved
  server.takes = 64;                          // it has recovered
  sync_wait(world, ask_from_many(world, limit, server, 100, 60s));
  CHECK(limit.limit() >= 40);
}

TEST_CASE("a burst of refusals halves the limit once") {
  simulation world(4);
  concurrency_limit limit(world, 64, 256);
  std::vector<concurrency_limit::permit> sent;
  for (int i = 0; i != 60; ++i) sent.push_back(*limit.try_acquire());
  for (auto& one : sent) limit.throttled(one);
  CHECK(limit.limit() == 32);
  sent.clear();
  auto after = limit.try_acquire();
  limit.throttled(*after);
  CHECK(limit.limit() == 16);
}

TEST_CASE("one refusal in twenty leaves the limit unchanged, and one in four does not") {
  simulation world(5);
  concurrency_limit limit(world, 64, 64);
  auto ask = [&](int requests, double refused) {
    for (int i = 0; i != requests; ++i) {
      auto one = limit.try_acquire();
      REQUIRE(one);
      limit.answered(50ms);
      if (world.chance(refused)) limit.throttled(*one);
    }
  };
  ask(300, 0.05);
  CHECK(limit.limit() == 64);
  ask(300, 0.25);
  CHECK(limit.limit() <= 16);
}

TEST_CASE("a hedge may go beyond the limit, by a sixteenth") {
  simulation world(6);
  concurrency_limit limit(world, 64, 64);
  std::vector<concurrency_limit::permit> sent;
  while (auto one = limit.try_acquire()) sent.push_back(std::move(*one));
  CHECK(sent.size() == 64);
  while (auto one = limit.try_acquire_beyond()) sent.push_back(std::move(*one));
  CHECK(sent.size() == 68);
  CHECK_FALSE(limit.try_acquire());
  while (sent.size() != 60) sent.pop_back();
  CHECK(limit.try_acquire().has_value());
  CHECK(limit.in_use() == 60);
}

TEST_CASE("who waits for a permit can be stopped, and loses none") {
  simulation world(3);
  concurrency_limit limit(world, 1, 1);
  sync_wait(world, stopped_wait(limit));
  CHECK(limit.in_use() == 0);
  CHECK(limit.try_acquire().has_value());
}

TEST_CASE("a request is hedged when it is later than 95 of 100, at most one in twenty, and not where all are slow") {
  first_byte_times times;
  CHECK_FALSE(times.hedge_after());
  for (int i = 0; i != 100; ++i) {
    times.count_request();
    times.add(i % 20 == 7 ? duration(900ms) : duration(50ms) + std::chrono::microseconds(i));
  }
  REQUIRE(times.hedge_after());
  CHECK(*times.hedge_after() >= 50ms);
  CHECK(*times.hedge_after() <= 900ms);
  int taken = 0;
  while (times.take_hedge()) ++taken;
  CHECK(taken == 5);
  for (int i = 0; i != 1000; ++i) times.count_request();
  REQUIRE(times.hedge_after());
  for (int i = 0; i != 16; ++i) times.add(500ms);
  CHECK_FALSE(times.hedge_after());  // the last sixteen took ten times as long as usual
}

namespace {

struct reads_outcome {
  duration p99{};
  std::size_t requests = 0;
  std::uint64_t hedges = 0, won = 0;
};

task<> read_many(http_world& w, int files, std::vector<duration>& took) {
  for (int i = 0; i != files; ++i) {
    const time_point began = w.world.now();
    auto reading = read_file(w.rt, "http://objects/a");
    const std::string got = co_await reading;
    took.push_back(w.world.now() - began);
    CHECK(got.size() == 1000);
  }
}

reads_outcome read_from_uneven_server(bool hedge) {
  http_options options;
  options.hedge = hedge;
  http_world w(9, options, {.delay_max = 1ms});
  w.server.put("/a", some_bytes(1000), "\"v\"");
  std::uint64_t drawn = 0;
  w.server.on_request([&](const asked_for&) {
    drawn = (drawn + 37) % 100;
    w.server.always({.before = drawn == 0 ? duration(2s) : duration(50ms)});
  });
  std::vector<duration> took;
  CHECK(w.run(read_many(w, 2000, took)).ok());
  std::sort(took.begin(), took.end());
  return {.p99 = took[took.size() * 99 / 100 + 1],
          .requests = w.server.log().size(),
          .hedges = w.files->counts().hedges,
          .won = w.files->counts().hedges_won};
}

}  // namespace

TEST_CASE("hedged, the slowest answers are no longer slow, for a twentieth more requests at most") {
  reads_outcome without = read_from_uneven_server(false), with = read_from_uneven_server(true);
  CHECK(without.hedges == 0);
  CHECK(without.p99 >= 2s);
  CHECK(with.p99 <= without.p99 / 4);
  CHECK(with.won >= 15);
  CHECK(with.hedges <= 100);
  CHECK(with.requests <= 2000 + 2000 / 20);
}

namespace {

task<> read_in_lanes(http_world& w, int lanes, int files, std::vector<duration>& took) {
  environment* env = co_await this_environment();
  scope all(*env);
  for (int i = 0; i != lanes; ++i) all.spawn(read_many(w, files, took));
  co_await all.join();
}

}  // namespace

TEST_CASE("a hedge that others are in the way of is sent when they have gone, so that no answer stalls") {
  constexpr int kLanes = 64, kReads = 60;
  http_world w(9, {}, {.delay_max = 1ms});
  w.server.put("/a", some_bytes(1000), "\"v\"");
  int asked = 0;
  w.server.on_request([&](const asked_for&) {
    // One in ten is a little late, which takes all the hedges that there may be, and one in a hundred stalls.
    const int i = ++asked;
    w.server.always({.before = i % 101 == 0 ? duration(4s) : i % 10 == 3 ? duration(80ms) : duration(50ms)});
  });
  std::vector<duration> took;
  CHECK(w.run(read_in_lanes(w, kLanes, kReads, took)).ok());
  std::vector<duration> stalled;
  for (const duration& d : took)
    if (d >= 4s) stalled.push_back(d);
  CAPTURE(w.files->counts().hedges, w.files->counts().hedges_won);
  CHECK(took.size() == kLanes * kReads);
  // Those asked before enough is known of the server.
  CHECK(stalled.size() <= 2);
  CHECK(w.files->counts().hedges <= w.server.log().size() / 20);
}

}  // namespace sluice::lib::limits_test
