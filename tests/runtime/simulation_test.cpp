// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/simulation.hpp"

#include <catch2/catch.hpp>

#include <set>

#include "sluice/coro/channel.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::simulation_test {
using namespace std::chrono_literals;

namespace {

task<> name_self(std::string& order, char name) {
  co_await yield_now();
  order.push_back(name);
}
task<> five(std::string& order) {
  environment* env = co_await this_environment();
  scope s(*env);
  for (char c = 'a'; c < 'f'; ++c) s.spawn(name_self(order, c));
  co_await s.join();
}

task<> produce(channel<int>& c, duration each, int n) {
  for (int i = 0; i < n; ++i) {
    co_await sleep_for(each);
    bool taken = co_await c.send(i);
    if (!taken) co_return;
  }
  c.close();
}
task<> relay(channel<int>& in, channel<int>& out, duration each) {
  while (auto x = co_await in.receive()) {
    co_await sleep_for(each);
    int n = *x;
    bool taken = co_await out.send(n);
    if (!taken) co_return;
  }
  out.close();
}
task<> drain(channel<int>& in, std::vector<duration>& at, simulation& w) {
  while (auto x = co_await in.receive()) at.push_back(w.elapsed());
}
task<> three_stages(simulation& w, std::vector<duration>& at) {
  channel<int> a({.elements = 1}), b({.elements = 1}), c({.elements = 1});
  environment* env = co_await this_environment();
  scope s(*env);
  s.spawn(produce(a, 20ms, 20));
  s.spawn(relay(a, b, 100ms));
  s.spawn(relay(b, c, 200ms));
  s.spawn(drain(c, at, w));
  co_await s.join();
}

}  // namespace

TEST_CASE("one seed gives one order, and other seeds give others", "[simulation]") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    simulation a(seed), b(seed);
    std::string first, second;
    sync_wait(a, five(first));
    sync_wait(b, five(second));
    INFO("seed " << seed);
    CHECK(first == second);
    CHECK(a.trace() == b.trace());
    orders.insert(first);
  }
  CHECK(orders.size() > 20);
}

TEST_CASE("a pipeline of 20, 100 and 200 ms takes 200 ms an element, and no real time", "[simulation]") {
  simulation w(7);
  std::vector<duration> at;
  sync_wait(w, three_stages(w, at));
  REQUIRE(at.size() == 20);
  CHECK(at[0] == 320ms);
  for (std::size_t i = 1; i < at.size(); ++i) CHECK(at[i] - at[i - 1] == 200ms);
}

TEST_CASE("a deadlock is found at once and names the seed", "[simulation]") {
  simulation w(42);
  channel<int> c({.elements = 1});
  auto starve = [](channel<int>& c) -> task<> {
    auto x = co_await c.receive();
    (void)x;
  };
  CHECK_THROWS_WITH(sync_wait(w, starve(c)), Catch::Contains("seed 42") && Catch::Contains("is stuck at 0.000000 s"));
}

TEST_CASE("a runtime uses a simulation: runs, ledger and blocking calls in virtual time", "[simulation]") {
  simulation w(9);
  w.delay_blocking_calls([] { return 30ms; });
  runtime rt(w, {.memory_budget_bytes = 100});
  auto work = [](runtime& rt) -> task<int> {
    rt.ledger().charge(60, purpose::channel);
    auto n = co_await blocking(rt.blocking_calls(), [] { return 7; });
    co_await sleep_for(2h);
    rt.ledger().release(60, purpose::channel);
    co_return n;
  };
  CHECK(sync_wait(rt, work(rt)) == 7);
  CHECK(w.elapsed() == 2h + 30ms);
  CHECK(rt.world() == &w);
  CHECK(rt.workers() == 1);
}

TEST_CASE("a chance has its probability", "[simulation]") {
  simulation w(3);
  int hits = 0;
  for (int i = 0; i < 10000; ++i) hits += w.chance(0.25);
  CHECK(hits > 2300);
  CHECK(hits < 2700);
  CHECK_FALSE(w.chance(0));
  CHECK(w.chance(1));
}

}  // namespace sluice::lib::simulation_test
