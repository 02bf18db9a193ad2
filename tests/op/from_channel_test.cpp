// SPDX-License-Identifier: Apache-2.0
// sluice/op/from_channel.hpp, sluice/engine/element_queue.hpp. From an asio server: tests/pipeline/asio_push_test.cpp.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/counting_element.hpp"
#include "support/elements.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::from_channel_test {
namespace {

using namespace std::chrono_literals;
using namespace test;
using int64 = std::int64_t;

task<> push_numbers(channel_sender<int64> push, int64 first, int64 last, std::shared_ptr<int64> sent, duration pause) {
  for (int64 i = first; i != last; ++i) {
    if (pause.count()) co_await sleep_for(pause);
    bool there = co_await push(i);
    if (!there) break;
    ++*sent;
  }
}
task<> push_and_close(channel_sender<int64> push, int64 first, int64 last, std::shared_ptr<int64> sent,
                      duration pause = {}) {
  co_await push_numbers(push, first, last, sent, pause);
  push.close();
}

/// Up to `most` elements, one in each `pause`.
task<int64s> take_slowly(stream<int64>& s, duration pause, std::size_t most) {
  int64s got;
  while (got.size() != most) {
    if (pause.count()) co_await sleep_for(pause);
    auto x = co_await s.next();
    if (!x) break;
    got.push_back(*x);
  }
  co_return got;
}

std::shared_ptr<int64> none_yet() { return std::make_shared<int64>(0); }
int64s from_to(int64 first, int64 last) {
  int64s all;
  for (int64 i = first; i < last; ++i) all.push_back(i);
  return all;
}

task<> back_pressure(runtime& rt, std::shared_ptr<int64> sent) {
  auto [push, ds] = from_channel<int64>({.elements = 4});
  auto s = ds.iterate(rt);
  scope all(rt.root());
  all.spawn(push_and_close(push, 0, 100, sent));
  for (int64 i = 0; i != 50; ++i) {
    co_await sleep_for(10ms);
    CHECK(*sent <= i + 1 + 4 + 2);  // four in the channel, a block of one or two with the reader
    auto x = co_await s.next();
    CHECK(*x == i);
  }
  CHECK(*sent < 60);
  CHECK(rt.ledger().used_bytes() > 0);
  co_await cleanup(std::move(s));
  CHECK(rt.ledger().used_bytes() == 0);
  auto rest = ds.iterate(rt);  // another run takes what the first has left
  int64s got = co_await take_slowly(rest, 0s, 1000);
  CHECK(got == from_to(got.empty() ? 0 : got[0], 100));
  CHECK(got.size() >= 45);
  co_await all.join();
}

task<> several_producers(runtime& rt) {
  auto [push, ds] = from_channel<int64>({.elements = 3});
  auto s = (ds | batch(4) | prefetch(2) | unbatch()).iterate(rt);
  scope all(rt.root());
  for (int64 k = 0; k != 5; ++k) all.spawn(push_numbers(push, k * 1000, k * 1000 + 200, none_yet(), 0s));
  int64s got = co_await take_slowly(s, 0s, 1000);
  CHECK(got.size() == 1000);
  push.close();
  auto end = co_await s.next();
  CHECK(!end);
  co_await all.join();
  for (int64 k = 0; k != 5; ++k) {
    int64s one;
    std::copy_if(got.begin(), got.end(), std::back_inserter(one), [k](int64 x) { return x / 1000 == k; });
    CHECK(one == from_to(k * 1000, k * 1000 + 200));
  }
}

}  // namespace

TEST_CASE("elements that are pushed arrive in their order, and a full channel holds its producer back") {
  for (std::uint64_t seed = 1; seed != 10; ++seed) {
    simulation world(seed);
    runtime rt(world);
    sync_wait(rt, back_pressure(rt, none_yet()));
  }
}

TEST_CASE("several producers push from several workers, and each one's elements keep their order") {
  {
    simulation world(3);
    runtime rt(world);
    sync_wait(rt, several_producers(rt));
  }
  runtime rt({.workers = 2});
  for (int i = 0; i != 20; ++i) sync_wait(rt, several_producers(rt));
}

TEST_CASE("try_push returns whether there was room, and keeps the value otherwise") {
  auto [push, ds] = from_channel<std::string>({.elements = 2});
  std::string third = "a third one that owns memory";
  CHECK(push.try_push("one"));
  CHECK(push.try_push("two"));
  CHECK(!push.try_push(std::move(third)));
  CHECK(third == "a third one that owns memory");
  CHECK(push.size() == 2);
  push.close();
  CHECK(!push.try_push("after the end"));
  simulation world(1);
  runtime rt(world);
  std::vector<std::string> got =
      sync_wait(rt, [](runtime& on, dataset<std::string> of) -> task<std::vector<std::string>> {
        std::vector<std::string> all;
        auto s = of.iterate(on);
        while (auto x = co_await s.next()) all.push_back(*x);
        co_return all;
      }(rt, ds));
  CHECK(got == std::vector<std::string>{"one", "two"});
}

TEST_CASE("bytes limit a channel, and an element of more goes alone") {
  auto [push, ds] = from_channel<std::string>({.elements = 100, .bytes = 3000});
  CHECK(push.try_push(std::string(5000, 'a')));
  CHECK(!push.try_push("b"));
  auto [small, numbers] = from_channel<std::string>({.elements = 100, .bytes = 3000});
  int there = 0;
  while (small.try_push(std::string(900, 'c'))) ++there;
  CHECK(there == 3);
}

namespace {

/// Pushes until the end, and notes how many were there at most.
task<> push_texts(channel_sender<std::string> push, std::int64_t n, std::shared_ptr<std::size_t> most) {
  for (std::int64_t i = 0; i != n; ++i) {
    std::string text(10'000, 'x');
    bool there = co_await push(std::move(text));
    if (!there) break;
    *most = std::max(*most, push.size());
  }
  push.close();
}
task<std::size_t> read_texts(runtime& rt, dataset<std::string> ds, channel_sender<std::string> push,
                             std::shared_ptr<std::size_t> most) {
  auto s = ds.iterate(rt);
  auto first = push_texts(std::move(push), 100, most);
  scope all(rt.root());
  all.spawn(std::move(first));
  std::size_t n = 0;
  for (;;) {
    co_await sleep_for(1ms);
    auto x = co_await s.next();
    if (!x) break;
    ++n;
  }
  co_await all.join();
  co_return n;
}

}  // namespace

TEST_CASE("pushes wait for room in the memory budget of the run that reads the channel") {
  simulation world(2);
  auto most = std::make_shared<std::size_t>(0);
  {
    runtime rt(world, {.memory_budget_bytes = 100'000});
    auto [push, ds] = from_channel<std::string>({.elements = 1000});
    CHECK(sync_wait(rt, read_texts(rt, ds, push, most)) == 100);
    CHECK(rt.ledger().used_bytes() == 0);
  }
  CHECK(*most >= 2);
  CHECK(*most <= 10);
}

TEST_CASE("a channel that is closed with a status ends the run with it, after its elements") {
  auto [push, ds] = from_channel<int64>();
  push.try_push(7);
  push.close(unavailable_error("the broker is gone"));
  consumed got = consume(ds, {});
  CHECK(got.elements == int64s{7});
  CHECK(got.why.code() == status_code::unavailable);
  CHECK(got.why.to_string() == "unavailable: from_channel: the broker is gone");
}

TEST_CASE("a channel without senders that was not closed is an error, not an end") {
  std::optional<channel_source<int64>> both = from_channel<int64>();
  both->push.try_push(1);
  dataset<int64> ds = both->elements;
  both.reset();
  consumed got = consume(ds, {});
  CHECK(got.elements == int64s{1});
  CHECK(got.why.to_string() == "unavailable: from_channel: the last sender is gone, and has not closed the channel");
}

TEST_CASE("a channel has one run at a time, and a plan that is gone closes it") {
  auto [push, ds] = from_channel<int64>();
  push.try_push(1);
  push.close();
  simulation world(1);
  runtime rt(world);
  {
    auto first = ds.iterate(rt);
    consumed second = consume_on(rt, ds, {});
    CHECK(second.elements.empty());
    CHECK(second.why.to_string() ==
          "failed_precondition: from_channel: another run reads this channel; a channel has one run at a time");
  }
  consumed third = consume(ds, {});
  CHECK(third.complaint() == "");
  CHECK(third.elements == int64s{1});
  auto [twice, both] = from_channel<int64>();
  twice.try_push(1);
  auto pairs = zip(both, both) | map([](const std::pair<int64, int64>& p) { return p.first; });
  CHECK(consume(pairs, {}).why.code() == status_code::failed_precondition);
  auto left = [] { return from_channel<int64>().push; }();
  CHECK(!left.try_push(1));
}

TEST_CASE("a stop ends the wait for an element, and leaves later elements to the next run") {
  auto [push, ds] = from_channel<int64>();
  push.try_push(1);
  consumption how;
  how.stop_after = 1;
  consumed got = consume(ds, how);
  CHECK(got.why.code() == status_code::cancelled);
  push.try_push(2);
  push.close();
  CHECK(consume(ds, {}).elements == int64s{2});
}

TEST_CASE("elements that count their objects are each destroyed once, pushed or not") {
  lifetimes watched;
  {
    auto [push, ds] = from_channel<counting_element>({.elements = 3});
    for (int64 i = 0; i != 5; ++i) push.try_push(as_counting::made(i));
    consumption how;
    how.elements_max = 2;
    CHECK(consume(ds | map(as_counting::number), how).elements == int64s{0, 1});
  }
  CHECK(watched.complaint() == "");
}

namespace {

/// All of the first n numbers, from a run and from one that goes on from its position in another process.
task<bool> resume_elsewhere(runtime& rt, std::size_t at) {
  constexpr int64 kAll = 300;
  checkpoint here;
  auto sent = none_yet();
  {
    auto [push, ds] = from_channel<int64>({.elements = 8});
    scope all(rt.root());
    all.spawn(push_and_close(push, 0, kAll, sent));
    auto s = (ds | shuffle(20, {.seed = 5}) | prefetch(2)).iterate(rt);
    int64s first = co_await take_slowly(s, 0s, at);
    CHECK(first.size() == at);
    here = s.position();
    co_await cleanup(std::move(s));
    push.close();
    co_await all.join();
  }
  auto [push, ds] = from_channel<int64>({.elements = 8});
  auto s = (ds | shuffle(20, {.seed = 5}) | prefetch(2)).iterate(rt, {.from = here});
  bool was_refused = false;
  try {
    push.try_push(0);  // right only if the source begins at its first element again
  } catch (const error& e) {
    was_refused = true;
    CHECK(e.why().code() == status_code::failed_precondition);
    CHECK(std::string(e.what()).find("ask resume_from() first") != std::string::npos);
  }
  std::uint64_t from = push.resume_from();
  CHECK((from > 1) == was_refused);
  scope all(rt.root());
  all.spawn(push_and_close(push, static_cast<int64>(from), kAll, sent));
  int64s rest = co_await take_slowly(s, 0s, 1000);
  co_await all.join();
  int64s whole = consume(range(kAll) | shuffle(20, {.seed = 5}), {}).elements;
  CHECK(rest == int64s(whole.begin() + static_cast<std::ptrdiff_t>(at), whole.end()));
  co_return was_refused;
}

}  // namespace

TEST_CASE("a resumed run reports to its producer where to send again, and refuses earlier pushes") {
  std::size_t refused = 0;
  for (std::size_t at : {1, 2, 57, 150, 299, 280, 290}) {
    CAPTURE(at);
    simulation world(at);
    runtime rt(world);
    refused += sync_wait(rt, resume_elsewhere(rt, at));
  }
  CHECK(refused >= 1);
}

TEST_CASE("a plan with a channel has no text, and the error has the reason") {
  auto [push, ds] = from_channel<int64>();
  CHECK_THROWS_WITH(plan_json(*ds.plan()), Catch::Contains("from_channel"));
  push.close();
}

}  // namespace sluice::lib::from_channel_test
