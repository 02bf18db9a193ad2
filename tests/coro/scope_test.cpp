// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/scope.hpp"

#include <catch2/catch.hpp>

#include "coro/test_world.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"

namespace sluice::lib::scope_test {
using namespace std::chrono_literals;

namespace {

task<> add(int& sum, int n) {
  co_await yield_now();
  sum += n;
}
task<int> square(int n) {
  co_await yield_now();
  co_return n* n;
}
task<int> fails(std::string_view what) {
  co_await yield_now();
  co_await fail(data_loss_error(what));
  co_return 0;
}
task<> fails_after(duration d, std::string_view what) {
  co_await sleep_for(d);
  co_await fail(data_loss_error(what));
}
task<> sleeps_for_ever(int& ended) {
  struct count_end {
    explicit count_end(int& n) : n_(n) {}
    ~count_end() { ++n_; }
    int& n_;
  } end(ended);
  co_await sleep_for(1000h);
}
task<> join(scope& s) { co_await s.join(); }

}  // namespace

TEST_CASE("a scope joins everything that was spawned, also by its children", "[scope]") {
  test_world w;
  int sum = 0;
  scope s(w.env);
  auto grow = [](scope& s, int& sum) -> task<> {
    for (int i = 0; i < 10; ++i) s.spawn(add(sum, i));
    co_return;
  };
  s.spawn(grow(s, sum));
  s.spawn(add(sum, 100));
  w.run(join(s));
  CHECK(sum == 145);
}

TEST_CASE("an empty scope joins at once", "[scope]") {
  test_world w;
  scope s(w.env);
  w.run(join(s));
  scope never_used(w.env);
}

TEST_CASE("the first error stops the siblings, is kept, and is thrown by join", "[scope]") {
  test_world w;
  int ended = 0;
  {
    scope s(w.env);
    s.spawn(sleeps_for_ever(ended));
    s.spawn(fails_after(5ms, "first"));
    s.spawn(fails_after(6ms, "second"));
    s.spawn(sleeps_for_ever(ended));
    status why = w.result_of(join(s));
    CHECK(why.to_string() == "data_loss: first");
    CHECK(ended == 2);
  }
  CHECK(w.moment == time_point(5ms));
  CHECK_FALSE(w.stop.stop_requested());
  CHECK(w.timers.empty());
}

TEST_CASE("stopping a scope cancels its children, and that is no error", "[scope]") {
  test_world w;
  int ended = 0;
  scope s(w.env);
  s.spawn(sleeps_for_ever(ended));
  while (!w.ready.empty()) w.drive();
  s.request_stop();
  CHECK(w.result_of(join(s)).ok());
  CHECK(ended == 1);
}

TEST_CASE("a stop of the parent reaches the children and fails the join", "[scope]") {
  test_world w;
  int ended = 0;
  scope s(w.env);
  s.spawn(sleeps_for_ever(ended));
  while (!w.ready.empty()) w.drive();
  w.stop.request_stop();
  CHECK(w.result_of(join(s)).code() == status_code::cancelled);
  CHECK(ended == 1);
}

TEST_CASE("when_all gives every result in its place", "[when_all]") {
  test_world w;
  auto sum = [](int& side) -> task<int> {
    auto a = square(3);
    auto b = add(side, 7);
    auto c = square(4);
    auto all = co_await when_all(std::move(a), std::move(b), std::move(c));
    static_assert(std::is_same_v<decltype(all), std::tuple<int, std::monostate, int>>);
    co_return std::get<0>(all) + std::get<2>(all);
  };
  int side = 0;
  CHECK(w.run(sum(side)) == 25);
  CHECK(side == 7);
}

TEST_CASE("when_all over a vector keeps the order, and takes none", "[when_all]") {
  test_world w;
  auto squares = [](int n) -> task<std::vector<int>> {
    std::vector<task<int>> work;
    for (int i = 0; i < n; ++i) work.push_back(square(i));
    auto all = co_await when_all(std::move(work));
    co_return all;
  };
  CHECK(w.run(squares(4)) == std::vector{0, 1, 4, 9});
  CHECK(w.run(squares(0)).empty());
}

TEST_CASE("when_all waits for all and throws the first error in argument order", "[when_all]") {
  test_world w;
  auto both = [](int& side) -> task<int> {
    auto a = add(side, 1);
    auto b = fails("b");
    auto c = fails("c");
    auto all = co_await when_all(std::move(a), std::move(b), std::move(c));
    co_return std::get<1>(all);
  };
  int side = 0;
  CHECK(w.result_of(both(side)).why().to_string() == "data_loss: b");
  CHECK(side == 1);
}

TEST_CASE("a sleep lasts exactly its duration", "[sleep]") {
  test_world w;
  auto naps = []() -> task<> {
    co_await sleep_for(20ms);
    co_await sleep_for(0ms);
    co_await sleep_until(time_point(50ms));
    co_await sleep_until(time_point(1ms));  // long ago
  };
  w.run(naps());
  CHECK(w.moment == time_point(50ms));
}

TEST_CASE("a stop ends a sleep, before it as well as during it", "[sleep]") {
  test_world w;
  w.stop.request_stop();
  auto nap = []() -> task<> { co_await sleep_for(20ms); };
  CHECK(w.result_of(nap()).code() == status_code::cancelled);
  CHECK(w.moment == time_point(0ms));
  CHECK(w.timers.empty());
}

TEST_CASE("sync_wait throws the error of the task, and refuses to wait forever in a stuck world", "[sync_wait]") {
  test_world w;
  CHECK_THROWS_WITH(w.run(fails("broken")), "data_loss: broken");
  auto never = []() -> task<> { co_await std::suspend_always(); };
  CHECK_THROWS_WITH(w.run(never()), Catch::Contains("the test world is stuck"));
}

TEST_CASE("check_stop throws only when a stop was requested", "[stop]") {
  test_world w;
  auto loop = []() -> task<int> {
    co_await check_stop();
    environment* env = co_await this_environment();
    co_return env->stop.stop_possible() ? 1 : 0;
  };
  CHECK(w.run(loop()) == 1);
  w.stop.request_stop();
  CHECK(w.result_of(loop()).why().code() == status_code::cancelled);
}

TEST_CASE("with_scope joins its children also when the body fails", "[scope]") {
  test_world w;
  static int ended = 0;  // the body is a coroutine without captures
  ended = 0;
  auto body = [](scope& s) -> task<> {
    s.spawn(sleeps_for_ever(ended));
    auto failing = fails("body");
    co_await sleep_for(1ms);
    co_await failing;
  };
  CHECK(w.result_of(with_scope(body)).to_string() == "data_loss: body");
  CHECK(ended == 1);
  auto sound = [](scope& s) -> task<> {
    s.spawn(add(ended, 5));
    co_return;
  };
  CHECK(w.result_of(with_scope(sound)).ok());
  CHECK(ended == 6);
}

}  // namespace sluice::lib::scope_test
