// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/scheduler.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <set>
#include <thread>

#include "sluice/coro/channel.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/coro/when_all.hpp"

namespace sluice::lib::scheduler_test {

namespace {

struct world {
  explicit world(unsigned workers) : workers(workers) {
    env.exec = &this->workers;
    env.stop = stop.get_token();
  }
  scheduler workers;
  std::stop_source stop;
  environment env;
};

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto a = fib(n - 1);
  auto b = fib(n - 2);
  auto both = co_await when_all(std::move(a), std::move(b));
  co_return std::get<0>(both) + std::get<1>(both);
}

task<> produce(channel<int>& c, int n) {
  for (int i = 0; i < n; ++i) {
    bool taken = co_await c.send(i, 8);
    if (!taken) co_return;
  }
}
task<> consume(channel<int>& c, std::atomic<long>& sum, std::atomic<int>& count) {
  while (auto x = co_await c.receive()) {
    sum += *x;
    ++count;
  }
}
task<> produce_all(scope& outer, channel<int>& c, int producers, int n) {
  (void)outer;
  environment* env = co_await this_environment();
  scope s(*env);
  for (int i = 0; i < producers; ++i) s.spawn(produce(c, n));
  co_await s.join();
  c.close();
}
task<> cross(channel<int>& c, int producers, int consumers, int n, std::atomic<long>& sum, std::atomic<int>& count) {
  environment* env = co_await this_environment();
  scope s(*env);
  for (int i = 0; i < consumers; ++i) s.spawn(consume(c, sum, count));
  s.spawn(produce_all(s, c, producers, n));
  co_await s.join();
}

task<> wait_for(std::atomic<bool>& flag) {
  while (!flag.load()) co_await yield_now();
}
task<> raise_flag(std::atomic<bool>& flag) {
  flag = true;
  co_return;
}

}  // namespace

TEST_CASE("fork and join gives the right sum on any number of workers", "[scheduler]") {
  for (unsigned workers : {1, 2, 4}) {
    world w(workers);
    CHECK(sync_wait(w.env, fib(16)) == 987);
    CHECK(w.workers.workers() == workers);
  }
}

TEST_CASE("more ready tasks than a deque holds overflow and still all run", "[scheduler]") {
  world w(2);
  std::atomic<int> ran{0};
  auto tick = [](std::atomic<int>& n) -> task<> {
    ++n;
    co_return;
  };
  auto all = [](decltype(tick) tick, std::atomic<int>& n) -> task<> {
    environment* env = co_await this_environment();
    scope s(*env);
    for (int i = 0; i < 5000; ++i) s.spawn(tick(n));
    co_await s.join();
  };
  sync_wait(w.env, all(tick, ran));
  CHECK(ran == 5000);
}

TEST_CASE("a worker that always has something ready starves neither its oldest work nor work from outside",
          "[scheduler]") {
  world w(1);
  std::atomic<bool> flag{false};
  auto both = [](std::atomic<bool>& flag) -> task<> {
    environment* env = co_await this_environment();
    scope s(*env);
    s.spawn(raise_flag(flag));
    co_await wait_for(flag);
    co_await s.join();
  };
  sync_wait(w.env, both(flag));
  flag = false;
  std::thread outside([&] { sync_wait(w.env, raise_flag(flag)); });
  sync_wait(w.env, wait_for(flag));
  outside.join();
  CHECK(flag);
}

TEST_CASE("work posted while a worker computes for long is taken over by another", "[scheduler]") {
  world w(2);
  std::atomic<bool> flag{false};
  auto listen = [](channel<int>& c, std::atomic<bool>& flag) -> task<> {
    auto x = co_await c.receive();
    if (x) flag = true;
  };
  // The listener that the send wakes lies in the slot of a worker that will not come back to it by itself.
  auto hog = [](decltype(listen) listen, std::atomic<bool>& flag) -> task<> {
    environment* env = co_await this_environment();
    channel<int> c({.elements = 1});
    scope s(*env);
    s.spawn(listen(c, flag));
    while (c.counts().receive_waits == 0) co_await yield_now();
    bool sent = c.try_send(1);
    while (sent && !flag.load()) std::this_thread::yield();
    co_await s.join();
  };
  sync_wait(w.env, hog(listen, flag));
  CHECK(flag);
}

TEST_CASE("many senders and receivers on several workers lose and double nothing", "[scheduler][channel][stress]") {
  for (std::size_t limit : {1, 3, 16}) {
    world w(3);
    channel<int> c({.elements = limit, .bytes = 64});
    std::atomic<long> sum{0};
    std::atomic<int> count{0};
    sync_wait(w.env, cross(c, 3, 3, 2000, sum, count));
    CHECK(count == 6000);
    CHECK(sum == 3L * 1999 * 2000 / 2);
  }
}

TEST_CASE("a stop at any moment ends senders and receivers alike", "[scheduler][channel][stress]") {
  for (int round = 0; round < 100; ++round) {
    world w(2);
    channel<int> c({.elements = 2});
    std::atomic<long> sum{0};
    std::atomic<int> count{0};
    std::thread stopper([&] {
      while (count < round * 5) std::this_thread::yield();
      w.stop.request_stop();
    });
    status why = sync_wait_result(w.env, cross(c, 2, 2, 1'000'000, sum, count));
    stopper.join();
    CHECK(why.code() == status_code::cancelled);
  }
}

TEST_CASE("resume_on goes to the other executor and the next wait comes back", "[scheduler]") {
  world a(1);
  scheduler b(1);
  auto visit = [](executor& other, executor& home) -> task<bool> {
    bool before = home.on_worker();
    co_await resume_on(other);
    bool away = other.on_worker() && !home.on_worker();
    co_await yield_now();
    co_return before&& away&& home.on_worker();
  };
  CHECK(sync_wait(a.env, visit(b, a.workers)));
}

TEST_CASE("sync_wait on a worker is refused with the reason", "[scheduler]") {
  world w(1);
  auto nested = [](environment& env) -> task<> {
    sync_wait(env, fib(3));
    co_return;
  };
  status why = sync_wait_result(w.env, nested(w.env));
  CHECK_THAT(why.to_string(), Catch::Contains("co_await the task instead"));
}

TEST_CASE("idle workers sleep", "[scheduler]") {
  world w(2);
  sync_wait(w.env, fib(10));
  auto before = w.workers.counts().resumed;
  CHECK(before > 0);
  sync_wait(w.env, fib(10));
  CHECK(w.workers.counts().resumed > before);
}

}  // namespace sluice::lib::scheduler_test
