// SPDX-License-Identifier: Apache-2.0
// Channels whose blocks cost less to make than to move: the reader asks the input itself, and a pump works again when that
// has changed (docs/internals/decisions/channels.md). That nothing is lost, doubled or resumed wrongly on the way is what
// the random plans show, whose simulations change their answer at random.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::direct_where_light_test {
namespace {

using int64 = std::int64_t;

struct channel_case {
  const char* name;
  dataset<int64> (*make)(const dataset<int64>& counted, int& made);
};
dataset<int64> counted_range(int64 n, int& made) {
  return range(n) | map([&made](int64 x) { return ++made, x; });
}
const channel_case kChannels[] = {
    {"prefetch", [](const dataset<int64>& in, int&) { return in | prefetch(2'000); }},
    {"parallel map",
     [](const dataset<int64>& in, int&) { return in | map([](int64 x) { return x; }, {.parallelism = 4}); }},
    {"two of them", [](const dataset<int64>& in,
                       int&) { return in | map([](int64 x) { return x; }, {.parallelism = 4}) | prefetch(autotune); }},
};

/// Takes n elements by eights, each the one behind the other, and lets everybody work ahead.
task<void> take(any_stream& s, int64& next, int64 n) {
  for (int64 end = next + n; next < end;) {
    auto b = co_await s.next_block({.elements = 8});
    if (!b) break;
    const int64* x = b.as<int64>();
    for (std::uint32_t i = 0; i != b.size(); ++i) CHECK(x[i] == next++);
  }
  co_await sleep_for(std::chrono::seconds(1));
}

struct ahead {
  int64 shared = 0, light = 0, shared_again = 0;
};
task<ahead> change_twice(any_stream s, bool& shares, const int& made) {
  ahead a;
  int64 next = 0;
  auto first = take(s, next, 8'000);
  co_await first;
  a.shared = made - next;
  shares = false;
  auto second = take(s, next, 20'000);
  co_await second;
  a.light = made - next;
  shares = true;
  auto third = take(s, next, 20'000);
  co_await third;
  a.shared_again = made - next;
  auto end = cleanup(std::move(s));
  co_await end;
  co_return a;
}

}  // namespace

TEST_CASE("where blocks are light nothing is made ahead of the consumer, and a pump works again when they are not") {
  for (const channel_case& c : kChannels) {
    CAPTURE(c.name);
    for (std::uint64_t seed = 1; seed != 4; ++seed) {
      bool shares = true;
      int made = 0;
      simulation world(seed);
      world.decide_sharing([&shares] { return shares; });
      runtime rt(world, {.workers = 2});
      auto plan = c.make(counted_range(1'000'000, made), made);
      ahead a = sync_wait(rt, change_twice(open_run(rt, plan.plan(), {}), shares, made));
      CHECK(a.shared > 0);
      CHECK(a.light == 0);
      CHECK(a.shared_again > 0);
    }
  }
}

TEST_CASE("an interleave whose inner streams are light asks them alternately, and a later one begins so") {
  int made = 0;
  simulation world(1);
  world.decide_sharing([] { return false; });
  runtime rt(world, {.workers = 2});
  auto inner = [&made](int64 x) {
    return range(10'000 * (x + 1), {.start = 10'000 * x}) | map([&made](int64 y) { return ++made, y; });
  };
  auto plan = range(40) | interleave(inner, {.cycle_length = 4, .block_length = 1, .parallelism = 4});
  auto all = [](any_stream s, const int& made) -> task<std::vector<int64>> {
    std::vector<int64> got;
    while (auto b = co_await s.next_block({.elements = 64})) {
      const int64* x = b.as<int64>();
      got.insert(got.end(), x, x + b.size());
      if (got.size() > 100'000)
        CHECK(made - static_cast<int64>(got.size()) <= 4 * 64);  // what one request asks of four
    }
    auto end = cleanup(std::move(s));
    co_await end;
    co_return got;
  };
  std::vector<int64> got = sync_wait(rt, all(open_run(rt, plan.plan(), {}), made));
  std::vector<int64> expected;
  for (int64 group = 0; group != 10; ++group)
    for (int64 i = 0; i != 10'000; ++i)
      for (int64 k = 0; k != 4; ++k) expected.push_back(10'000 * (4 * group + k) + i);
  CHECK(got == expected);
}

TEST_CASE("an error of the input, and one of the function, arrive where they are while blocks are light") {
  for (bool in_function : {false, true}) {
    CAPTURE(in_function);
    simulation world(1);
    world.decide_sharing([] { return false; });
    runtime rt(world, {.workers = 2});
    auto fails = [](int64 x) {
      if (x == 50'000) throw error(data_loss_error("bad element"));
      return x;
    };
    auto same = [](int64 x) { return x; };
    auto plan = in_function ? range(100'000) | map(fails, {.parallelism = 3})
                            : range(100'000) | map(fails) | map(same, {.parallelism = 3}) | prefetch(100);
    auto count = [](any_stream s, int64& next) -> task<void> {
      while (auto b = co_await s.next_block({.elements = 100})) {
        const int64* x = b.as<int64>();
        for (std::uint32_t i = 0; i != b.size(); ++i) CHECK(x[i] == next++);
      }
    };
    int64 next = 0;
    try {
      sync_wait(rt, count(open_run(rt, plan.plan(), {}), next));
      FAIL("no error");
    } catch (const error& e) {
      CHECK(e.why().code() == status_code::data_loss);
      CHECK(std::string(e.what()).find("50000") != std::string::npos);
    }
    CHECK(next == 50'000);
  }
}

}  // namespace sluice::lib::direct_where_light_test
