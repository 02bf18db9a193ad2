// SPDX-License-Identifier: Apache-2.0
// async_next with a deadline: neither the element nor the error that comes too late is lost.
#include "sluice/asio.hpp"

#include <chrono>
#include <future>
#include <vector>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::asio_deadline_test {
namespace {

constexpr auto kForEver = std::chrono::hours(24);  // nobody sleeps that long: somebody cancels, or drops the stream

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

status_code code_of(const std::exception_ptr& why) {
  if (!why) return status_code::ok;
  try {
    std::rethrow_exception(why);
  } catch (const error& e) { return e.code(); } catch (...) {
    return status_code::unknown;
  }
}

constexpr auto kPast = std::chrono::steady_clock::time_point();
auto far_away() { return std::chrono::steady_clock::now() + kForEver; }

template <class T> asio::awaitable<std::vector<int>> asked_until_the_end(stream<T>& s, std::promise<void>& gate) {
  std::vector<int> outcomes;  // 0: an element, 1: late, 2: the end
  for (bool is_first = true;; is_first = false) {
    timed_next<T> got = co_await async_next(s, is_first ? kPast : far_away(), asio::use_awaitable);
    outcomes.push_back(got ? 0 : got.is_late ? 1 : 2);
    if (is_first) gate.set_value();
    if (!got && !got.is_late) break;
  }
  co_return outcomes;
}

template <class Plan> void late_once(unsigned workers, Plan plan) {
  runtime rt({.workers = workers});
  std::promise<void> gate;
  std::shared_future<void> opened = gate.get_future();
  auto s = plan(opened).iterate(rt);
  asio::io_context io;
  auto outcomes = asio::co_spawn(io, asked_until_the_end(s, gate), asio::use_future);
  io.run();
  CHECK(outcomes.get() == std::vector<int>{1, 0, 0, 0, 2});
}
}  // namespace

TEST_CASE("after a deadline the next request gets the element, for every kind of element and channel") {
  auto numbers = [](const std::shared_future<void>& opened) {
    return range(3) | map([opened](std::int64_t x) {
             opened.wait();
             return x;
           });
  };
  auto moved_only = [&](const std::shared_future<void>& opened) {
    return numbers(opened) | map([](std::int64_t x) { return std::make_unique<std::int64_t>(x); });
  };
  auto large = [&](const std::shared_future<void>& opened) {
    return numbers(opened) | map([](std::int64_t x) { return std::string(1 << 20, static_cast<char>('a' + x)); });
  };
  for (unsigned workers : {1u, 2u}) {
    late_once(workers, numbers);
    late_once(workers, moved_only);
    late_once(workers, large);
    late_once(workers, [&](const auto& opened) { return numbers(opened) | prefetch(2); });
    late_once(workers, [&](const auto& opened) { return large(opened) | prefetch(1); });
  }
}

TEST_CASE("a deadline hides no error, no end and no cancellation") {
  runtime rt({.workers = 2});
  asio::io_context io;
  auto failing = (range(3) | map([](std::int64_t x) -> result<std::int64_t> {
                    if (x == 1) return data_loss_error("bad");
                    return x;
                  })).iterate(rt);
  CHECK(*async_next(failing, far_away(), asio::use_future).get() == 0);
  for (int i = 0; i != 2; ++i) {
    try {
      (void)async_next(failing, far_away(), asio::use_future).get();
      FAIL("no error");
    } catch (const error& e) { CHECK(e.code() == status_code::data_loss); }
  }
  auto empty = range(0).iterate(rt);
  timed_next<std::int64_t> end = async_next(empty, far_away(), asio::use_future).get();
  CHECK_FALSE(end);
  CHECK_FALSE(end.is_late);

  auto s = two_then_never().iterate(rt);
  for (int i = 0; i != 2; ++i) CHECK(*async_next(s, far_away(), asio::use_future).get() == i);
  CHECK(async_next(s, kPast, asio::use_future).get().is_late);
  asio::cancellation_signal cancel;
  status_code code = status_code::ok;
  bool is_late = true;
  async_next(s, far_away(),
             asio::bind_cancellation_slot(
                 cancel.slot(), asio::bind_executor(io, [&](std::exception_ptr why, timed_next<std::int64_t> got) {
                   code = code_of(why);
                   is_late = got.is_late;
                 })));
  asio::post(io, [&] { cancel.emit(asio::cancellation_type::terminal); });
  io.run();
  CHECK(code == status_code::cancelled);
  CHECK_FALSE(is_late);
}

TEST_CASE("a stream may be moved or dropped while a request with a deadline waits for its executor") {
  for (int round = 0; round != 50; ++round) {
    runtime rt({.workers = 2});
    asio::io_context io;
    std::optional<std::int64_t> got;
    auto s = range(3).iterate(rt);
    auto handler = [&](std::exception_ptr why, timed_next<std::int64_t> x) {
      CHECK_FALSE(why);
      got = std::move(x.element);
    };
    async_next(s, far_away(), asio::bind_executor(io, handler));  // nobody runs `io` yet
    auto moved = std::move(s);
    io.run();
    CHECK(got == 0);
    CHECK(*async_next(moved, far_away(), asio::use_future).get() == 1);
    status_code code = status_code::ok;
    {
      auto dropped = two_then_never().iterate(rt);
      for (int i = 0; i != 2; ++i) (void)async_next(dropped, asio::use_future).get();
      async_next(dropped, far_away(), asio::bind_executor(io, [&](std::exception_ptr why, timed_next<std::int64_t>) {
                   code = code_of(why);
                 }));
    }
    io.restart();
    io.run();
    CHECK(code == status_code::cancelled);
  }
}

TEST_CASE("an error that arrives after a deadline is the next request's") {
  for (const unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    std::promise<void> gate;
    std::shared_future<void> opened = gate.get_future();
    auto s = (range(3) | map([opened](std::int64_t) -> result<std::int64_t> {
                opened.wait();
                return data_loss_error("bad");
              }) |
              prefetch(1))
                 .iterate(rt);
    CHECK(async_next(s, kPast, asio::use_future).get().is_late);
    gate.set_value();
    for (int i = 0; i != 2; ++i) {
      status_code code = status_code::ok;
      try {
        (void)async_next(s, far_away(), asio::use_future).get();
      } catch (const error& e) { code = e.code(); }
      CHECK(code == status_code::data_loss);
    }
  }
}

TEST_CASE("a context that ends takes requests with deadlines along") {
  runtime rt({.workers = 2});
  auto s = two_then_never().iterate(rt);
  for (int i = 0; i != 2; ++i) (void)async_next(s, asio::use_future).get();
  int called = 0;
  {
    asio::io_context io;
    async_next(s, far_away(), asio::bind_executor(io, [&](std::exception_ptr, timed_next<std::int64_t>) { ++called; }));
    io.poll();
  }
  CHECK(called == 0);
}

}  // namespace sluice::lib::asio_deadline_test
