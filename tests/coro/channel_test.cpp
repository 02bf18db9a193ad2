// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/channel.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <numeric>

#include "coro/test_world.hpp"
#include "sluice/coro/scope.hpp"

namespace sluice::lib::channel_test {

namespace {

task<> send_range(channel<int>& c, int first, int last, std::size_t bytes, int& sent) {
  for (int i = first; i < last; ++i) {
    bool taken = co_await c.send(i, bytes);
    if (!taken) co_return;
    ++sent;
  }
}
task<> send_and_close(channel<int>& c, int last, std::size_t bytes, int& sent) {
  auto all = send_range(c, 0, last, bytes, sent);
  co_await all;
  c.close();
}
task<> receive_all(channel<int>& c, std::vector<int>& got) {
  while (auto x = co_await c.receive()) got.push_back(*x);
}

std::vector<int> counting(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

}  // namespace

TEST_CASE("a channel delivers every element in order, for any limits", "[channel]") {
  for (std::size_t limit : {1, 2, 3, 7, 64}) {
    test_world w;
    channel<int> c({.elements = limit});
    std::vector<int> got;
    int sent = 0;
    scope s(w.env);
    s.spawn(send_and_close(c, 100, 0, sent));
    s.spawn(receive_all(c, got));
    auto joined = [](scope& s) -> task<> { co_await s.join(); };
    w.run(joined(s));
    CHECK(got == counting(100));
    CHECK(sent == 100);
  }
}

TEST_CASE("a sender waits at the element limit and at the byte limit", "[channel]") {
  test_world w;
  channel<int> c({.elements = 100, .bytes = 10});
  int sent = 0;
  scope s(w.env);
  s.spawn(send_range(c, 0, 10, 4, sent));
  while (!w.ready.empty()) w.drive();
  CHECK(sent == 2);
  CHECK(c.size_bytes() == 8);
  c.set_limits({.elements = 3, .bytes = 100});
  while (!w.ready.empty()) w.drive();
  CHECK(sent == 3);
  c.set_limits({.elements = 10, .bytes = 100});
  while (!w.ready.empty()) w.drive();
  CHECK(sent == 10);
  CHECK(c.size() == 10);
  auto join = [](scope& s) -> task<> { co_await s.join(); };
  w.run(join(s));
}

TEST_CASE("an element larger than the byte limit passes an empty channel", "[channel]") {
  channel<int> c({.elements = 4, .bytes = 10});
  CHECK(c.try_send(1, 1000));
  CHECK_FALSE(c.try_send(2, 1));
  CHECK(c.try_receive() == 1);
  CHECK(c.try_send(2, 1));
  CHECK_FALSE(c.try_send(3, 1000));
}

TEST_CASE("closing delivers the remaining elements and then ends", "[channel]") {
  test_world w;
  channel<int> c({.elements = 4});
  REQUIRE(c.try_send(1));
  REQUIRE(c.try_send(2));
  c.close();
  CHECK_FALSE(c.try_send(3));
  std::vector<int> got;
  w.run(receive_all(c, got));
  CHECK(got == std::vector{1, 2});
}

TEST_CASE("closing with an error gives the elements first and then fails the receiver", "[channel]") {
  test_world w;
  channel<int> c({.elements = 4});
  REQUIRE(c.try_send(1));
  c.close(data_loss_error("torn"));
  c.close();  // too late to change anything
  std::vector<int> got;
  status why = w.result_of(receive_all(c, got));
  CHECK(got == std::vector{1});
  CHECK(why.to_string() == "data_loss: torn");
}

TEST_CASE("closing wakes waiting senders with false and waiting receivers with the end", "[channel]") {
  test_world w;
  channel<int> full({.elements = 1}), empty({.elements = 1});
  int sent = 0;
  std::vector<int> got;
  scope s(w.env);
  s.spawn(send_range(full, 0, 5, 0, sent));
  s.spawn(receive_all(empty, got));
  while (!w.ready.empty()) w.drive();
  CHECK(sent == 1);
  full.close();
  empty.close();
  auto join = [](scope& s) -> task<> { co_await s.join(); };
  w.run(join(s));
  CHECK(sent == 1);
  CHECK(got.empty());
}

TEST_CASE("receive_n takes the available elements and does not wait for more", "[channel]") {
  test_world w;
  channel<int> c({.elements = 8});
  for (int i = 0; i < 5; ++i) REQUIRE(c.try_send(std::move(i)));
  auto take = [](channel<int>& c, std::vector<int>& to, std::size_t max) -> task<std::size_t> {
    auto n = co_await c.receive_n(to, max);
    co_return n;
  };
  std::vector<int> got;
  CHECK(w.run(take(c, got, 3)) == 3);
  CHECK(w.run(take(c, got, 10)) == 2);
  CHECK(got == counting(5));
  c.close();
  CHECK(w.run(take(c, got, 10)) == 0);
}

TEST_CASE("waiting senders are let in when half the channel is free, all at once", "[channel]") {
  test_world w;
  channel<int> c({.elements = 4});
  int sent = 0;
  scope s(w.env);
  s.spawn(send_range(c, 0, 8, 0, sent));
  while (!w.ready.empty()) w.drive();
  CHECK(sent == 4);
  CHECK(c.try_receive() == 0);
  CHECK(w.ready.empty());
  CHECK(c.try_receive() == 1);
  CHECK(w.ready.size() == 1);
  while (!w.ready.empty()) w.drive();
  CHECK(c.size() == 4);
  c.close();
  auto join = [](scope& s) -> task<> { co_await s.join(); };
  w.run(join(s));
}

TEST_CASE("a stop fails waiting senders and receivers, and the channel stays usable", "[channel]") {
  test_world w;
  channel<int> full({.elements = 1}), empty({.elements = 1});
  int sent = 0;
  std::vector<int> got;
  scope s(w.env);
  s.spawn(send_range(full, 0, 5, 0, sent));
  s.spawn(receive_all(empty, got));
  while (!w.ready.empty()) w.drive();
  w.stop.request_stop();
  auto join = [](scope& s) -> task<> { co_await s.join(); };
  status why = w.result_of(join(s));
  CHECK(why.code() == status_code::cancelled);
  CHECK(full.try_receive() == 0);
  CHECK(full.try_receive() == std::nullopt);
  CHECK(empty.try_send(7));
}

TEST_CASE("a stop before a wait fails it, and a ready operation still succeeds", "[channel]") {
  test_world w;
  channel<int> c({.elements = 1});
  w.stop.request_stop();
  int sent = 0;
  status why = w.result_of(send_range(c, 0, 2, 0, sent));
  CHECK(sent == 1);
  CHECK(why.code() == status_code::cancelled);
}

TEST_CASE("a frame that is dropped while it waits leaves the queue", "[channel]") {
  test_world w;
  channel<int> c({.elements = 1});
  std::vector<int> got;
  {
    auto waiting = receive_all(c, got);
    waiting.get().promise().env = &w.env;
    waiting.get().resume();
  }
  CHECK(c.try_send(1));
  CHECK(c.try_receive() == 1);
}

TEST_CASE("a channel carries move-only elements and frees those that no one receives", "[channel]") {
  auto alive = std::make_shared<int>(0);
  {
    channel<std::shared_ptr<int>> c({.elements = 8});
    for (int i = 0; i < 5; ++i) REQUIRE(c.try_send(std::shared_ptr<int>(alive), 10));
    CHECK(alive.use_count() == 6);
    CHECK(c.discard() == 50);
    CHECK(alive.use_count() == 1);
    CHECK(c.closed());
  }
  channel<std::unique_ptr<int>> u({.elements = 8});
  for (int i = 0; i < 6; ++i) REQUIRE(u.try_send(std::make_unique<int>(i)));
  CHECK(**u.try_receive() == 0);
}

TEST_CASE("a channel counts elements and waits", "[channel]") {
  test_world w;
  channel<int> c({.elements = 2});
  std::vector<int> got;
  int sent = 0;
  scope s(w.env);
  s.spawn(send_and_close(c, 10, 0, sent));
  s.spawn(receive_all(c, got));
  auto join = [](scope& s) -> task<> { co_await s.join(); };
  w.run(join(s));
  CHECK(c.counts().sent == 10);
  CHECK(c.counts().received == 10);
  CHECK(c.counts().send_waits > 0);
}

}  // namespace sluice::lib::channel_test
