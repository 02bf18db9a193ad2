// SPDX-License-Identifier: Apache-2.0
// A stream awaited from asio: every way to wait, and every way to leave.
#include "sluice/asio.hpp"

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/sluice.hpp"
#include "support/tree_of.hpp"

namespace sluice::lib::asio_test {
namespace {

using int64s = std::vector<std::int64_t>;
using optional_int = std::optional<std::int64_t>;

constexpr auto kForEver = std::chrono::hours(24);  // nobody sleeps that long: somebody cancels, or drops the stream

task<std::int64_t> after_a_hop(std::int64_t x) {
  co_await sleep_for(std::chrono::microseconds(10));
  co_return x;
}

/// 0, 1 and then a wait that only a stop ends.
stream<std::int64_t> two_and_a_wait(may_suspend) {
  for (std::int64_t i = 0;; ++i) {
    if (i == 2) co_await sleep_for(kForEver);
    co_yield i;
  }
}
auto two_then_never() {
  return generate([] { return two_and_a_wait({}); });
}

int64s counted(std::int64_t n) {
  int64s v;
  for (std::int64_t i = 0; i != n; ++i) v.push_back(i);
  return v;
}

status_code code_of(const std::exception_ptr& why) {
  if (!why) return status_code::ok;
  try {
    std::rethrow_exception(why);
  } catch (const error& e) { return e.code(); } catch (...) {
    return status_code::unknown;
  }
}

/// One client of a server: takes everything, on its own executor.
asio::awaitable<void> take_all(stream<std::int64_t> s, int64s& into) {
  for (;;) {
    optional_int x = co_await async_next(s, asio::use_awaitable);
    if (!x) break;
    into.push_back(*x);
  }
}

/// The same with callbacks: its own handler, started again from itself.
struct reader {
  stream<std::int64_t> s;
  int64s taken = {};
  status_code ended_with = status_code::internal;

  void go(asio::any_io_executor where) {
    async_next(s, asio::bind_executor(where, [this, where](std::exception_ptr why, optional_int x) {
                 if (x) {
                   taken.push_back(*x);
                   return go(where);
                 }
                 ended_with = code_of(why);
               }));
  }
};

/// What one wait was answered with.
struct answer {
  int count = 0;
  status_code code = status_code::ok;
  optional_int element;

  auto handler(asio::io_context& io) {
    return asio::bind_executor(io, [this](std::exception_ptr why, optional_int x) {
      ++count;
      code = code_of(why);
      element = x;
    });
  }
};

}  // namespace

TEST_CASE("many clients each co_await a stream of their own on one io_context") {
  runtime rt({.workers = 2});
  asio::io_context io;
  std::vector<int64s> taken(20);
  for (std::size_t i = 0; i != taken.size(); ++i) {
    auto ds = range(static_cast<std::int64_t>(100 + i)) | map(after_a_hop, {.parallelism = 4}) | prefetch(8);
    asio::co_spawn(io, take_all(ds.iterate(rt), taken[i]), asio::detached);
  }
  io.run();
  for (std::size_t i = 0; i != taken.size(); ++i) CHECK(taken[i] == counted(static_cast<std::int64_t>(100 + i)));
}

TEST_CASE("clients on strands of a pool of threads get every element, in order") {
  runtime rt({.workers = 2});
  asio::io_context io;
  std::vector<int64s> taken(8);
  for (int64s& into : taken) {
    auto ds = range(500) | prefetch(3);
    asio::co_spawn(asio::make_strand(io), take_all(ds.iterate(rt), into), asio::detached);
  }
  std::thread other([&] { io.run(); });
  io.run();
  other.join();
  for (const int64s& each : taken) CHECK(each == counted(500));
}

TEST_CASE("callbacks run on their executor, never inside async_next, and see the end") {
  runtime rt({.workers = 2});
  asio::io_context io;
  reader r{.s = (range(1000) | prefetch(4)).iterate(rt)};
  r.go(io.get_executor());
  CHECK(r.taken.empty());
  io.run();
  CHECK(r.taken == counted(1000));
  CHECK(r.ended_with == status_code::ok);
}

TEST_CASE("use_future blocks a plain thread until the element has arrived") {
  runtime rt({.workers = 2});
  auto s = (range(3) | map(after_a_hop)).iterate(rt);
  int64s taken;
  for (;;) {
    auto f = async_next(s, asio::use_future);
    optional_int x = f.get();
    if (!x) break;
    taken.push_back(*x);
  }
  CHECK(taken == counted(3));
}

TEST_CASE("the position after an element equals the one after next()") {
  runtime rt({.workers = 2});
  auto ds = range(10) | map(after_a_hop, {.parallelism = 3});
  auto s = ds.iterate(rt);
  for (int i = 0; i != 4; ++i) (void)async_next(s, asio::use_future).get();
  auto resumed = ds.iterate(rt, {.from = s.position()});
  CHECK(async_next(resumed, asio::use_future).get() == 4);
  CHECK(async_next(s, asio::use_future).get() == 4);
}

TEST_CASE("an error comes after the elements before it, and stays") {
  runtime rt({.workers = 2});
  auto ds = range(10) | map([](std::int64_t x) {
              if (x == 3) throw std::runtime_error("three");
              return x;
            });
  asio::io_context io;
  reader r{.s = ds.iterate(rt)};
  r.go(io.get_executor());
  io.run();
  CHECK(r.taken == counted(3));
  CHECK(r.ended_with == status_code::unknown);
  CHECK_THROWS_WITH(async_next(r.s, asio::use_future).get(), Catch::Contains("three"));
}

TEST_CASE("a stream that belongs to no run is refused") {
  stream<std::int64_t> none;
  CHECK_THROWS_WITH(async_next(none, asio::use_future).get(), Catch::Contains("no stream of a run"));
}

TEST_CASE("a second wait is refused, and the first continues unharmed") {
  runtime rt({.workers = 2});
  asio::io_context io;
  answer first, second;
  asio::cancellation_signal cancel;
  auto s = two_then_never().iterate(rt);
  for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
  async_next(s, asio::bind_cancellation_slot(cancel.slot(), first.handler(io)));
  async_next(s, second.handler(io));
  io.poll();
  CHECK(second.code == status_code::failed_precondition);
  CHECK(first.count == 0);
  cancel.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(first.code == status_code::cancelled);
}

TEST_CASE("a cancellation slot ends a wait during a sleep in the pipeline, at once") {
  runtime rt({.workers = 2});
  asio::io_context io;
  auto s = (two_then_never() | prefetch(2)).iterate(rt);
  for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
  answer waited;
  asio::cancellation_signal cancel;
  async_next(s, asio::bind_cancellation_slot(cancel.slot(), waited.handler(io)));
  io.poll();
  REQUIRE(waited.count == 0);
  cancel.emit(asio::cancellation_type::total);  // means "no effect at all": a pull has an effect
  io.poll();
  REQUIRE(waited.count == 0);
  cancel.emit(asio::cancellation_type::partial);
  io.restart();
  io.run();
  CHECK(waited.count == 1);
  CHECK(waited.code == status_code::cancelled);
}

TEST_CASE("a cancelled wait loses nothing: the next one gets its element") {
  runtime rt({.workers = 2});
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future();
  auto ds = range(5) | map([opened](std::int64_t x) {
              opened.wait();
              return x;
            });
  auto s = ds.iterate(rt);
  asio::io_context io;
  answer cancelled, next;
  asio::cancellation_signal cancel;
  async_next(s, asio::bind_cancellation_slot(cancel.slot(), cancelled.handler(io)));
  cancel.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(cancelled.code == status_code::cancelled);

  stream<std::int64_t> moved = std::move(s);  // also while the pull is still out
  async_next(moved, next.handler(io));
  gate.set_value();
  io.restart();
  io.run();
  CHECK(next.element == 0);
  CHECK(test::tree_of(moved).consumed() == 1);
  for (std::int64_t i = 1; i != 5; ++i) CHECK(async_next(moved, asio::use_future).get() == i);
}

TEST_CASE("a timeout around a wait leaves the stream usable") {
  runtime rt({.workers = 2});
  asio::io_context io;
  auto s = two_then_never().iterate(rt);
  for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
  for (int round = 0; round != 3; ++round) {
    answer waited;
    asio::cancellation_signal cancel;
    asio::steady_timer timer(io, std::chrono::milliseconds(1));
    timer.async_wait([&](std::error_code) { cancel.emit(asio::cancellation_type::terminal); });
    async_next(s, asio::bind_cancellation_slot(cancel.slot(), waited.handler(io)));
    io.restart();
    io.run();
    CHECK(waited.count == 1);
    CHECK(waited.code == status_code::cancelled);
  }
}

TEST_CASE("a stream dropped mid-flight ends its wait, stops its run and blocks no thread") {
  asio::io_context io;
  answer waited;
  runtime rt({.workers = 2});
  {
    auto s = (two_then_never() | prefetch(4)).iterate(rt);
    for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
    async_next(s, waited.handler(io));
    auto moved = std::move(s);
    stream<std::int64_t> again;
    again = std::move(moved);
  }
  io.run();  // returns: the work that the wait holds on the executor is given back
  CHECK(waited.count == 1);
  CHECK(waited.code == status_code::cancelled);
  CHECK(waited.element == std::nullopt);
}

TEST_CASE("a stream may be dropped between the end of a pull and its handler") {
  runtime rt({.workers = 2});
  asio::io_context io;
  for (int round = 0; round != 50; ++round) {
    answer waited;
    {
      auto s = (range(5) | prefetch(2)).iterate(rt);
      async_next(s, waited.handler(io));
    }
    io.restart();
    io.run();
    CHECK(waited.count == 1);
    CHECK(waited.code == status_code::cancelled);
  }
}

TEST_CASE("request_stop during a wait answers it with cancelled") {
  runtime rt({.workers = 2});
  asio::io_context io;
  answer waited;
  auto s = two_then_never().iterate(rt);
  for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
  async_next(s, waited.handler(io));
  s.request_stop();
  io.run();
  CHECK(waited.code == status_code::cancelled);
}

TEST_CASE("cleanup during a wait completes when nothing of the run is left") {
  runtime rt({.workers = 2});
  asio::io_context io;
  answer waited;
  auto s = (two_then_never() | prefetch(2)).iterate(rt);
  for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
  async_next(s, waited.handler(io));
  sync_wait(rt, cleanup(std::move(s)));
  io.run();
  CHECK(waited.code == status_code::cancelled);
}

TEST_CASE("an io_context that goes away takes its waits along, unheard, and the streams in their frames") {
  runtime rt({.workers = 2});
  answer waited;
  auto s = two_then_never().iterate(rt);
  for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
  int64s taken;
  {
    asio::io_context io;
    async_next(s, waited.handler(io));
    asio::co_spawn(io, take_all((two_then_never() | prefetch(2)).iterate(rt), taken), asio::detached);
    while (taken.size() < 2) io.run_one();
    io.poll();
  }
  CHECK(waited.count == 0);
  CHECK(taken == counted(2));
}

TEST_CASE("an io_context may go away while pulls come to rest") {
  runtime rt({.workers = 2});
  for (int round = 0; round != 100; ++round) {
    std::vector<int64s> taken(4);
    asio::io_context io;
    for (int64s& into : taken)
      asio::co_spawn(io, take_all((range(50) | map(after_a_hop, {.parallelism = 2})).iterate(rt), into),
                     asio::detached);
    for (int i = 0; i != round; ++i) io.run_one();
  }
}

}  // namespace sluice::lib::asio_test
