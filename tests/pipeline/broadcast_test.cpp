// SPDX-License-Identifier: Apache-2.0
// sluice/pipeline/broadcast.hpp
#include "sluice/pipeline/broadcast.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::broadcast_test {
namespace {

using namespace std::chrono_literals;
using int64 = std::int64_t;
using int64s = std::vector<int64>;
using test::random_numbers;

int64s from_to(int64 first, int64 last) {
  int64s all;
  for (int64 i = first; i < last; ++i) all.push_back(i);
  return all;
}

/// What a consumer got, and how its stream ended.
struct outcome {
  int64s got;
  status why;
};

task<> consume(stream<int64> s, duration pause, std::size_t most, std::shared_ptr<outcome> o) {
  while (o->got.size() != most) {
    if (pause.count()) co_await sleep_for(pause);
    auto x = co_await s.try_next();
    if (!x) {
      o->why = x.why;
      break;
    }
    o->got.push_back(*x);
  }
}

/// Consumers with these pauses, each in a task of its own.
std::vector<std::shared_ptr<outcome>> consume_all(runtime& rt, const dataset<int64>& ds,
                                                  const std::vector<duration>& pauses, broadcast_options o,
                                                  std::size_t most = 1'000'000) {
  std::vector<std::shared_ptr<outcome>> outcomes;
  std::vector<task<void>> tasks;
  auto streams = broadcast(ds, rt, pauses.size(), o);
  for (std::size_t k = 0; k != pauses.size(); ++k) {
    outcomes.push_back(std::make_shared<outcome>());
    tasks.push_back(consume(std::move(streams[k]), pauses[k], most, outcomes.back()));
  }
  auto all = [](std::vector<task<void>> each) -> task<void> { co_await when_all(std::move(each)); };
  sync_wait(rt, all(std::move(tasks)));
  return outcomes;
}

}  // namespace

TEST_CASE("each consumer gets every element, at any pace, in simulations and on two workers") {
  auto made = std::make_shared<std::atomic<int64>>(0);
  auto ds = range(500) | map([made](int64 x) { return ++*made, x * 2; }) | shuffle(20, {.seed = 4}) | prefetch(2);
  const std::vector<std::vector<duration>> paces = {
      {0us, 0us}, {0us, 3us, 9us}, {5us, 0us}, {0us}, {1us, 1us, 1us, 1us}};
  int64s expected;
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    for (const auto& pauses : paces) {
      simulation world(seed);
      runtime rt(world);
      *made = 0;
      auto outcomes = consume_all(rt, ds, pauses, {.lag_max = 16});
      for (auto& o : outcomes) {
        CHECK(o->why.ok());
        CHECK(o->got.size() == 500);
        if (expected.empty()) expected = o->got;
        CHECK(o->got == expected);
      }
      CHECK(*made == 500);  // once, not for each
      CHECK(rt.ledger().used_bytes() == 0);
    }
  }
  runtime rt({.workers = 2});
  for (int i = 0; i != 20; ++i) {
    auto outcomes = consume_all(rt, ds, {0us, 0us, 0us}, {.lag_max = 50});
    for (auto& o : outcomes) CHECK(o->got == expected);
  }
}

namespace {

task<> take_ahead(runtime& rt, std::shared_ptr<int64> made) {
  auto ds = range(10'000) | map([made](int64 x) { return ++*made, x; });
  auto streams = broadcast(ds, rt, 2, {.lag_max = 100});
  scope all(rt.root());
  auto fast = std::make_shared<outcome>();
  all.spawn(consume(std::move(streams[0]), 0us, 1'000'000, fast));
  co_await sleep_for(1s);
  CHECK(fast->got.size() == 100);
  CHECK(*made == 100);
  CHECK(rt.ledger().used_bytes() >= 100 * sizeof(int64));
  for (int64 i = 0; i != 30; ++i) {
    auto x = co_await streams[1].next();
    CHECK(*x == i);
  }
  co_await sleep_for(1s);
  CHECK(fast->got.size() >= 130);
  CHECK(fast->got.size() <= 200);           // what the slow one's view has is taken
  co_await cleanup(std::move(streams[1]));  // and it holds nobody back any more
  co_await all.join();
  CHECK(fast->got == from_to(0, 10'000));
}

}  // namespace

namespace {

/// Reads to the end, and counts what it has read for the thread that stops streams.
task<> read_all(stream<int64>& s, std::atomic<int64>& read, outcome& o) {
  for (;;) {
    auto x = co_await s.try_next();
    if (!x) {
      o.why = x.why;
      co_return;
    }
    o.got.push_back(*x);
    read.store(*x, std::memory_order_relaxed);
  }
}

bool is_prefix(const int64s& got) { return got == from_to(0, static_cast<int64>(got.size())); }

}  // namespace

TEST_CASE("consumers that are stopped or dropped while others read on two workers end alone") {
  constexpr int64 kElements = 4000;
  runtime rt({.workers = 2});
  random_numbers draw(1);
  for (int round = 0; round != 40; ++round) {
    auto streams = broadcast(range(kElements), rt, 4, {.lag_max = 8, .on_lag = lagging::drop});
    std::vector<outcome> outcomes(streams.size());
    std::atomic<int64> read{0};
    std::atomic<bool> is_over{false};
    const auto when = static_cast<int64>(draw.below(kElements));
    std::thread stops([&] {
      while (read.load(std::memory_order_relaxed) < when && !is_over.load(std::memory_order_acquire))
        std::this_thread::yield();
      streams[3].request_stop();
    });
    std::vector<task<void>> tasks;
    for (std::size_t k = 0; k != streams.size(); ++k) tasks.push_back(read_all(streams[k], read, outcomes[k]));
    auto all = [](std::vector<task<void>> each) -> task<void> { co_await when_all(std::move(each)); };
    sync_wait(rt, all(std::move(tasks)));
    is_over.store(true, std::memory_order_release);
    stops.join();
    std::size_t whole = 0;
    for (const outcome& o : outcomes) {
      CHECK(is_prefix(o.got));
      whole += o.why.ok() && o.got.size() == kElements;
      const bool has_reason = o.why.code() == status_code::resource_exhausted || o.why.code() == status_code::cancelled;
      CHECK((o.why.ok() ? o.got.size() == kElements : has_reason));
    }
    // The last one that is left is not dropped. It may be the one that was stopped.
    CHECK((whole >= 1 || outcomes[3].why.code() == status_code::cancelled));
  }
}

TEST_CASE("tee is broadcast") {
  runtime rt({.workers = 1});
  auto both = tee(range(3), rt, 2);
  static_assert(std::is_same_v<decltype(both), decltype(broadcast(range(3), rt, 2))>);
  auto read = [](stream<int64>* s, int64s* got) -> task<void> {
    while (auto x = co_await s->next()) got->push_back(*x);
  };
  int64s first, second;
  sync_wait(rt, read(&both[1], &second));
  sync_wait(rt, read(&both[0], &first));
  CHECK(first == from_to(0, 3));
  CHECK(second == from_to(0, 3));
  CHECK(report_of_broadcast(detail::engine_access::of(both[0])).sites.size() == 1);  // one run
  for (stream<int64>& s : both) sync_wait(rt, cleanup(std::move(s)));
}

TEST_CASE("a consumer may be ahead by lag_max elements, which are charged, and one that leaves delays no other") {
  simulation world(5);
  runtime rt(world);
  sync_wait(rt, take_ahead(rt, std::make_shared<int64>(0)));
  CHECK(rt.ledger().used_bytes() == 0);
}

TEST_CASE("bytes limit the held elements, too, and one larger element passes") {
  auto big = range(50) | map([](int64) { return std::string(10'000, 'x'); }) |
             map([](const std::string& s) { return static_cast<int64>(s.size()); });
  simulation world(5);
  runtime rt(world);
  auto outcomes = consume_all(rt, big, {0us, 1ms}, {.lag_bytes_max = 100});
  for (auto& o : outcomes) CHECK(o->got.size() == 50);
}

TEST_CASE("a consumer that lags too far is dropped if requested, with an error that explains it") {
  simulation world(5);
  runtime rt(world);
  auto outcomes = consume_all(rt, range(1000), {1us, 1h, 1us}, {.lag_max = 64, .on_lag = lagging::drop});
  CHECK(outcomes[0]->got == from_to(0, 1000));
  CHECK(outcomes[2]->got == from_to(0, 1000));
  CHECK(outcomes[1]->why.code() == status_code::resource_exhausted);
  CHECK(outcomes[1]->why.to_string().find("consumer 1 was 64 elements behind the first and was dropped (lag_max=64)") !=
        std::string::npos);
  CHECK(outcomes[1]->got.empty());
}

TEST_CASE("a dropped consumer learns why, also after the others have left") {
  for (int how = 0; how != 3; ++how) {
    CAPTURE(how);
    simulation world(5);
    runtime rt(world);
    auto drops = [](runtime& on, int way) -> task<void> {
      auto streams = broadcast(range(3000) | prefetch(4), on, 2, {.lag_max = 16, .on_lag = lagging::drop});
      auto first = co_await streams[0].next();
      CHECK(first != nullptr);
      for (;;) {
        auto x = co_await streams[1].next();
        if (!x) break;
      }
      if (way == 0) streams[1].request_stop();
      if (way == 1) streams[1] = {};
      if (way == 2) co_await cleanup(std::move(streams[1]));
      auto x = co_await streams[0].try_next();
      while (x) x = co_await streams[0].try_next();  // the rest of its block
      CHECK(x.why.code() == status_code::resource_exhausted);
      CHECK_THAT(x.why.to_string(), Catch::Contains("consumer 0 was 16 elements behind"));
      co_await cleanup(std::move(streams[0]));
      CHECK(on.ledger().used_bytes() == 0);
    };
    sync_wait(rt, drops(rt, how));
  }
}

TEST_CASE("an error of the run reaches each consumer after the elements before it, and is counted once") {
  auto ds = range(100) | map([](int64 x) {
              if (x == 70 || x == 20) throw_status(data_loss_error("a bad element"));
              return x;
            });
  simulation world(5);
  runtime rt(world);
  for (auto& o : consume_all(rt, ds, {0us, 2us}, {})) {
    CHECK(o->got == from_to(0, 20));
    CHECK(o->why.code() == status_code::data_loss);
  }
  auto streams = broadcast(ds, rt, 2, {.run = {.on_error = error_policy::skip}});
  auto both = [](stream<int64>& a, stream<int64>& b) -> task<void> {
    for (int i = 0; i != 98; ++i) {
      auto x = co_await a.next();
      CHECK(x);
      auto y = co_await b.next();
      CHECK(*y == *x);
    }
    auto end = co_await a.next();
    CHECK(!end);
    CHECK(broadcast_report(a).errors == 2);
  };
  sync_wait(rt, both(streams[0], streams[1]));
}

namespace {

/// Two consumers read at random; then all that is left of each, from a checkpoint of the whole.
task<> save_and_resume(runtime& rt, const dataset<int64>& ds, std::uint64_t seed) {
  random_numbers random(seed);
  int64s whole;
  {
    auto s = ds.iterate(rt);
    while (auto x = co_await s.next()) whole.push_back(*x);
  }
  broadcast_options o;
  o.lag_max = 30;
  for (int part = 0; part != 4; ++part) {
    auto streams = broadcast(ds, rt, 3, o);
    std::size_t at[3] = {};
    for (int step = 0; step != 300; ++step) {
      std::size_t k = random.below(3);
      std::size_t last = std::min({at[0], at[1], at[2]});
      if (at[k] >= last + 20) continue;  // who is far ahead would wait for the others
      auto x = co_await streams[k].next();
      if (!x) continue;
      if (at[k] == 0 && part != 0) {
        auto found = std::find(whole.begin(), whole.end(), *x);
        at[k] = static_cast<std::size_t>(found - whole.begin());
      }
      CHECK(*x == whole[at[k]]);
      ++at[k];
    }
    if (part == 3 || std::min({at[0], at[1], at[2]}) == 0) break;
    o.from = broadcast_position({&streams[0], &streams[1], &streams[2]});
    auto again = broadcast(ds, rt, 3, o);
    for (std::size_t k = 0; k != 3; ++k) {
      if (at[k] == whole.size()) continue;
      auto x = co_await again[k].next();
      CHECK(x);
      CHECK(*x == whole[at[k]]);
    }
  }
}

}  // namespace

TEST_CASE("a checkpoint of a broadcast has each consumer at its own element, exactly") {
  auto ds = range(150) | shuffle(25, {.seed = 9}) | map([](int64 x) { return x; }, {.parallelism = 2}) | prefetch(3);
  for (std::uint64_t seed = 1; seed != 30; ++seed) {
    CAPTURE(seed);
    simulation world(seed);
    runtime rt(world);
    sync_wait(rt, save_and_resume(rt, ds, seed));
  }
}

namespace {

/// Consumers that ask for blocks of any size and pass over any number, each checked against the run's own elements; now and then
/// all of it goes on from a checkpoint.
task<> ask_at_random(runtime& rt, node_ptr plan, int64s whole, std::uint64_t seed) {
  constexpr std::size_t kConsumers = 3, kAhead = 40;
  random_numbers random(seed);
  std::size_t at[kConsumers] = {};
  broadcast_options o;
  o.lag_max = 100;
  for (int part = 0; part != 4; ++part) {
    std::vector<any_stream> streams = broadcast_run(rt, plan, kConsumers, o);
    for (int step = 0; step != 25; ++step) {
      std::size_t k = random.below(kConsumers);
      if (at[k] > std::min({at[0], at[1], at[2]}) + kAhead) continue;
      demand d;
      d.skip = random.below(3) ? 0 : random.below(10);
      d.elements = 1 + static_cast<std::uint32_t>(random.below(12));
      auto b = co_await streams[k].next_block(d);
      at[k] = std::min<std::size_t>(at[k] + d.skip, whole.size());
      CHECK(b.empty() == (at[k] == whole.size()));
      for (std::uint32_t i = 0; i != b.size(); ++i) CHECK(b.as<int64>()[i] == whole[at[k] + i]);
      at[k] += b.size();
      stream_base& tree = detail::engine_access::of(streams[k]);
      CHECK(tree.consumed() == at[k]);
      if (random.below(2)) tree.stage()->env->request_marks();
    }
    std::vector<const stream_base*> all;
    for (any_stream& s : streams) all.push_back(&detail::engine_access::of(s));
    o.from = position_of_broadcast(all);
  }
}

}  // namespace

TEST_CASE("consumers of a broadcast may request and skip any number of elements, and resume there") {
  auto ds = range(400) | shuffle(25, {.seed = 9}) | map([](int64 x) { return x; }, {.parallelism = 2}) | prefetch(3);
  int64s whole;
  {
    simulation world(1);
    runtime rt(world);
    whole = consume_all(rt, ds, {0us}, {})[0]->got;
  }
  REQUIRE(whole.size() == 400);
  for (std::uint64_t seed = 1; seed != 60; ++seed) {
    CAPTURE(seed);
    simulation world(seed);
    runtime rt(world);
    sync_wait(rt, ask_at_random(rt, ds.plan(), whole, seed));
  }
}

TEST_CASE("invalid positions of a broadcast are refused, and so are impossible numbers of consumers") {
  simulation world(1);
  runtime rt(world);
  auto ds = range(10);
  auto streams = broadcast(ds, rt, 2);
  CHECK_THROWS_WITH(streams[0].position(), Catch::Contains("broadcast_position()"));
  CHECK_THROWS_WITH(broadcast_position({&streams[0]}), Catch::Contains("lacks the stream of consumer 1"));
  checkpoint here = broadcast_position({&streams[1], &streams[0]});
  CHECK_THROWS_WITH(broadcast(ds, rt, 3, {.from = here}), Catch::Contains("is of 2 consumers, and there are 3"));
  CHECK_THROWS_WITH(broadcast(ds, rt, 2, {.from = ds.iterate(rt).position()}), Catch::Contains("of a plain run"));
  CHECK_THROWS_WITH(broadcast(range(11), rt, 2, {.from = here}), Catch::Contains("made by another plan"));
  CHECK_THROWS(ds.iterate(rt, {.from = here}));
  for (std::size_t cut = 0; cut < here.bytes.size(); cut += 3) {
    checkpoint damaged{here.bytes.substr(0, cut)};
    if (cut) CHECK_THROWS(broadcast(ds, rt, 2, {.from = damaged}));
  }
  CHECK_THROWS_WITH(broadcast(ds, rt, 0), Catch::Contains("needs a consumer"));
  CHECK_THROWS_WITH(broadcast(ds, rt, 1, {.lag_max = 0}), Catch::Contains("at least 1"));
}

TEST_CASE("a consumer that is stopped ends alone, and the run ends with the last") {
  simulation world(1);
  runtime rt(world);
  auto ds = range(1000) | sleep(1ms) | prefetch(4);
  auto both = [](runtime& on, dataset<int64> of) -> task<void> {
    auto streams = broadcast(of, on, 2);
    auto x = co_await streams[0].next();
    CHECK(*x == 0);
    streams[0].request_stop();
    auto stopped = co_await streams[0].try_next();
    while (stopped) stopped = co_await streams[0].try_next();  // what its view still has
    CHECK(stopped.why.code() == status_code::cancelled);
    for (int64 i = 0; i != 20; ++i) {
      auto y = co_await streams[1].next();
      CHECK(*y == i);
    }
    co_await cleanup(std::move(streams[0]));
    co_await cleanup(std::move(streams[1]));
    CHECK(on.ledger().used_bytes() == 0);
  };
  sync_wait(rt, both(rt, ds));
}

}  // namespace sluice::lib::broadcast_test
