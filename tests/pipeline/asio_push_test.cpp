// SPDX-License-Identifier: Apache-2.0
// A channel filled from asio: async_push (sluice/asio.hpp, sluice/op/from_channel.hpp).
#include "sluice/asio.hpp"

#include <memory>
#include <string>
#include <vector>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"

namespace sluice::lib::asio_push_test {
namespace {

using int64 = std::int64_t;
using int64s = std::vector<int64>;

asio::awaitable<void> produce(channel_sender<int64> push, int64 first, int64 last, int64& sent) {
  for (int64 i = first; i != last; ++i) {
    bool there = co_await async_push(push, i, asio::use_awaitable);
    if (!there) co_return;
    ++sent;
  }
}
asio::awaitable<void> produce_and_close(channel_sender<int64> push, int64 n, int64& sent) {
  co_await produce(push, 0, n, sent);
  push.close();
}

asio::awaitable<void> collect(stream<int64>& s, std::size_t most, int64s& got) {
  while (got.size() != most) {
    std::optional<int64> x = co_await async_next(s, asio::use_awaitable);
    if (!x) break;
    got.push_back(*x);
  }
}

}  // namespace

TEST_CASE("an asio program pushes elements and receives the pipeline's results") {
  runtime rt({.workers = 2});
  asio::io_context io;
  auto [push, numbers] = from_channel<int64>({.elements = 4});
  auto s = (numbers | map([](int64 x) { return 2 * x; }, {.parallelism = 2}) | prefetch(2)).iterate(rt);
  int64 sent = 0;
  int64s got;
  asio::co_spawn(io, produce_and_close(push, 500, sent), asio::detached);
  asio::co_spawn(io, collect(s, 1000, got), asio::detached);
  io.run();
  CHECK(sent == 500);
  REQUIRE(got.size() == 500);
  for (std::size_t i = 0; i != got.size(); ++i) CHECK(got[i] == 2 * static_cast<int64>(i));
}

TEST_CASE("a push waits while the channel is full, and its future reports the admission") {
  runtime rt({.workers = 1});
  auto [push, numbers] = from_channel<int64>({.elements = 2});
  CHECK(async_push(push, int64{0}, asio::use_future).get());
  CHECK(async_push(push, int64{1}, asio::use_future).get());
  auto third = async_push(push, int64{2}, asio::use_future);
  CHECK(third.wait_for(std::chrono::milliseconds(5)) == std::future_status::timeout);
  CHECK(!push.try_push(3));  // who waits goes first
  auto s = numbers.iterate(rt);
  CHECK(async_next(s, asio::use_future).get() == std::optional<int64>(0));
  CHECK(third.get());
  push.close();
  CHECK(!async_push(push, int64{4}, asio::use_future).get());
}

TEST_CASE("a push that is cancelled completes with that, and its element is not in the channel") {
  runtime rt({.workers = 1});
  asio::io_context io;
  auto [push, numbers] = from_channel<std::string>({.elements = 1});
  CHECK(push.try_push("the first, which is long enough to own memory"));
  asio::cancellation_signal signal;
  status_code code = status_code::ok;
  auto handler = [&](std::exception_ptr why, bool sent) {
    CHECK(!sent);
    try {
      std::rethrow_exception(why);
    } catch (const error& e) { code = e.code(); }
  };
  async_push(push, std::string("the second, which is never pushed"),
             asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(io, handler)));
  signal.emit(asio::cancellation_type::terminal);
  io.run();
  CHECK(code == status_code::cancelled);
  push.close();
  auto s = numbers.iterate(rt);
  CHECK(async_next(s, asio::use_future).get() == "the first, which is long enough to own memory");
  CHECK(!async_next(s, asio::use_future).get());
}

TEST_CASE("pushes that wait when their context or the plan goes end without a trace") {
  runtime rt({.workers = 1});
  auto both = std::make_unique<channel_source<int64>>(from_channel<int64>({.elements = 1}));
  channel_sender<int64> push = both->push;
  push.try_push(0);
  bool called = false;
  {
    asio::io_context io;
    async_push(push, int64{1}, asio::bind_executor(io, [&](std::exception_ptr, bool) { called = true; }));
  }
  CHECK(!called);
  auto waiting = async_push(push, int64{2}, asio::use_future);
  both.reset();  // the dataset
  CHECK(!waiting.get());
}

TEST_CASE("consumers of one broadcast wait on an asio executor, and one that leaves does not stop the other") {
  runtime rt({.workers = 2});
  asio::io_context io;
  auto ds = range(400) | map([](int64 x) { return x + 1; }, {.parallelism = 2}) | prefetch(2);
  auto streams = broadcast(ds, rt, 2, {.lag_max = 8});
  int64s first, second;
  asio::co_spawn(io, collect(streams[0], 1000, first), asio::detached);
  asio::co_spawn(io, collect(streams[1], 1000, second), asio::detached);
  io.run();
  CHECK(first.size() == 400);
  CHECK(first == second);
  auto again = broadcast(ds, rt, 2, {.lag_max = 8});
  int64s left;
  asio::io_context other;
  asio::co_spawn(other, collect(again[1], 1000, left), asio::detached);
  auto leave = [](asio::io_context& on, stream<int64> s) -> asio::awaitable<void> {
    int64s some;
    co_await collect(s, 3, some);
    co_await asio::post(on, asio::use_awaitable);
  };
  asio::co_spawn(other, leave(other, std::move(again[0])), asio::detached);
  other.run();
  CHECK(left.size() == 400);
}

}  // namespace sluice::lib::asio_push_test
