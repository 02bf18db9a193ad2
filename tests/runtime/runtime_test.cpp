// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/runtime.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <stdexcept>
#include <thread>

#include "runtime/available_memory.hpp"
#include "runtime/timers/timer_thread.hpp"
#include "sluice/coro/channel.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib::runtime_test {
using namespace std::chrono_literals;

namespace {

/// A task that works for a run on its own, as a pump does.
struct detached {
  struct promise_type : promise_base {
    std::shared_ptr<run_context> run;
    explicit promise_type(std::shared_ptr<run_context>& r, std::atomic<int>&) : run(r) {
      env = run.get();
      catching = true;
      run->task_started();
    }
    ~promise_type() { run->task_ended(); }
    detached get_return_object() {
      self = std::coroutine_handle<promise_type>::from_promise(*this);
      return {};
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};
detached sleep_until_stopped(std::shared_ptr<run_context> run, std::atomic<int>& stopped) {
  (void)run;
  auto nap = []() -> task<> { co_await sleep_for(10h); };
  auto work = nap();
  status why = co_await work.as_result();
  if (why.code() == status_code::cancelled) ++stopped;
}

}  // namespace

TEST_CASE("a runtime runs tasks on its workers and gives their values and errors back", "[runtime]") {
  runtime rt({.workers = 2});
  auto where = [](runtime& rt) -> task<bool> { co_return rt.exec().on_worker(); };
  CHECK(sync_wait(rt, where(rt)));
  auto bad = []() -> task<> { co_await fail(not_found_error("gone")); };
  CHECK_THROWS_WITH(sync_wait(rt, bad()), "not_found: gone");
  CHECK(rt.ledger().budget_bytes() > 0);
  CHECK(rt.workers() == 2);
}

TEST_CASE("real sleeps wake in order of their due times, and not early", "[runtime]") {
  runtime rt({.workers = 1});  // so that the order needs no lock
  auto nap = [](duration d, std::vector<int>& order, int name) -> task<> {
    co_await sleep_for(d);
    order.push_back(name);
  };
  auto naps = [](decltype(nap) nap, std::vector<int>& order) -> task<> {
    environment* env = co_await this_environment();
    scope s(*env);
    // Each begins where its coroutine is started: the differences are what a busy machine may take to start all three.
    s.spawn(nap(600ms, order, 3));
    s.spawn(nap(10ms, order, 1));
    s.spawn(nap(300ms, order, 2));
    co_await s.join();
  };
  std::vector<int> order;
  auto before = std::chrono::steady_clock::now();
  sync_wait(rt, naps(nap, order));
  CHECK(std::chrono::steady_clock::now() - before >= 600ms);
  CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE("a stop wakes real sleepers whenever it comes", "[runtime][stress]") {
  runtime rt({.workers = 2});
  for (int round = 0; round < 300; ++round) {
    auto run = rt.new_run();
    auto nap = [](duration d) -> task<> { co_await sleep_for(d); };
    std::thread stopper([&] {
      for (int i = 0; i < round % 50; ++i) std::this_thread::yield();
      run->request_stop();
    });
    status why = sync_wait_result(*run, nap(std::chrono::microseconds(round)));
    stopper.join();
    bool expected = why.ok() || why.code() == status_code::cancelled;
    CHECK(expected);
    CHECK(sync_wait_result(*run, nap(10h)).code() == status_code::cancelled);
  }
}

TEST_CASE("blocking calls leave the workers free and bring back values and exceptions", "[runtime]") {
  runtime rt({.workers = 1});
  auto call = [](runtime& rt) -> task<std::thread::id> {
    auto id = co_await blocking(rt.blocking_calls(), [] { return std::this_thread::get_id(); });
    bool back = rt.exec().on_worker();
    co_return back ? id : std::thread::id();
  };
  auto id = sync_wait(rt, call(rt));
  CHECK(id != std::thread::id());
  CHECK(id != std::this_thread::get_id());
  auto bad = [](runtime& rt) -> task<> {
    co_await blocking(rt.blocking_calls(), [] { throw std::runtime_error("disk on fire"); });
  };
  CHECK_THROWS_WITH(sync_wait(rt, bad(rt)), Catch::Contains("disk on fire"));
}

TEST_CASE("as many blocking calls as are made block at once", "[runtime]") {
  runtime rt({.workers = 1});
  std::atomic<int> inside{0};
  auto call = [](runtime& rt, std::atomic<int>& inside) -> task<> {
    auto wait = [&inside] {
      ++inside;
      while (inside < 8) std::this_thread::yield();
    };
    co_await blocking(rt.blocking_calls(), wait);
  };
  auto all = [](decltype(call) call, runtime& rt, std::atomic<int>& inside) -> task<> {
    environment* env = co_await this_environment();
    scope s(*env);
    for (int i = 0; i < 8; ++i) s.spawn(call(rt, inside));
    co_await s.join();
  };
  sync_wait(rt, all(call, rt, inside));
  CHECK(inside == 8);
}

TEST_CASE("the runtime's end stops its runs and waits for their tasks", "[runtime]") {
  std::atomic<int> stopped{0};
  std::atomic<bool> idle{false};
  {
    runtime rt({.workers = 2});
    for (int i = 0; i < 3; ++i) {
      auto run = rt.new_run();
      sleep_until_stopped(run, stopped);
      CHECK(run->live_tasks() == 1);
      if (i == 0) run->when_idle([](void* p) noexcept { *static_cast<std::atomic<bool>*>(p) = true; }, &idle);
    }
    CHECK_FALSE(idle);
  }
  CHECK(stopped == 3);
  CHECK(idle);
}

TEST_CASE("a run that has no tasks is idle at once", "[runtime]") {
  runtime rt({.workers = 1});
  auto run = rt.new_run();
  bool idle = false;
  run->when_idle([](void* p) noexcept { *static_cast<bool*>(p) = true; }, &idle);
  CHECK(idle);
}

TEST_CASE("a run counts errors up to its limit and keeps the first", "[runtime]") {
  runtime rt({.workers = 1});
  auto run = rt.new_run({.on_error = error_policy::skip, .errors_max = 2, .seed = 5});
  CHECK(run->met({data_loss_error("a")}).ok());
  CHECK(run->met({data_loss_error("b")}).ok());
  // The element that ends the run is not dropped.
  CHECK(run->met({data_loss_error("c")}).message().starts_with("c; one more than errors_max=2 of the run"));
  CHECK(run->met({data_loss_error("d")}).message().starts_with("d; one more than errors_max=2 of the run"));
  CHECK(run->errors() == 2);
  CHECK(run->first_errors().at(0).message() == "a");
  CHECK(run->seed == 5);
}

TEST_CASE("a row of errors that is reported as one counts each of them", "[runtime]") {
  runtime rt({.workers = 1});
  auto run = rt.new_run({.on_error = error_policy::skip, .errors_max = 10});
  CHECK(run->met({data_loss_error("a"), 7}).ok());
  CHECK(run->met({data_loss_error("b"), 3}).ok());
  CHECK(run->errors() == 10);
  CHECK(run->met({data_loss_error("c"), ~std::uint64_t{0}}).message().starts_with("c; one more than errors_max=10"));
  CHECK(run->errors() == 10);
  auto without_limit = rt.new_run({.on_error = error_policy::skip});
  CHECK(without_limit->met({data_loss_error("a"), 1u << 31}).ok());
  CHECK(without_limit->errors() == 1u << 31);
}

TEST_CASE("the memory that is available is the least of machine and cgroups", "[runtime]") {
  std::string root = "/tmp/sluice_available_memory_" + std::to_string(getpid());
  auto put = [&](const std::string& path, const std::string& text) {
    std::string folder = root + path.substr(0, path.rfind('/'));
    REQUIRE(std::system(("mkdir -p " + folder).c_str()) == 0);
    std::ofstream(root + path) << text;
  };
  put("/proc/meminfo", "MemTotal: 9999999 kB\nMemAvailable:    4096 kB\n");
  CHECK(available_memory_bytes(root) == 4096 * 1024);
  put("/proc/self/cgroup", "0::/jobs/ours\n");
  put("/sys/fs/cgroup/jobs/ours/memory.max", "max\n");
  put("/sys/fs/cgroup/jobs/memory.max", "3000000\n");
  put("/sys/fs/cgroup/jobs/memory.current", "1500000\n");
  put("/sys/fs/cgroup/jobs/memory.stat", "anon 5\ninactive_file 500000\n");
  CHECK(available_memory_bytes(root) == 2000000);
  CHECK(std::system(("rm -r " + root).c_str()) == 0);
  CHECK(available_memory_bytes() > 0);
}

}  // namespace sluice::lib::runtime_test
