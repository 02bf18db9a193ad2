// SPDX-License-Identifier: Apache-2.0
// src/coro/long_work.hpp
#include "coro/long_work.hpp"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "coro/test_world.hpp"

namespace sluice::lib::long_work_test {
namespace {

using namespace std::chrono_literals;

task<int> work_for(test_world& world, duration each, int times) {
  world.is_worker = true;  // a thread that waits for a task is none
  long_work work;
  int done = 0;
  for (; done != times; ++done) {
    world.moment += each;
    co_await work.breath();
  }
  world.is_worker = false;
  co_return done;
}

}  // namespace

TEST_CASE("work yields every 2 ms, for steps of any length") {
  for (auto [each, times] : {std::pair(duration(1us), 100'000), std::pair(duration(100us), 1'000),
                             std::pair(duration(1ms), 100), std::pair(duration(3ms), 33)}) {
    test_world world;
    CHECK(world.run(work_for(world, each, times)) == times);
    CAPTURE(each.count(), world.posted);
    CHECK(world.posted >= 25);
    CHECK(world.posted <= 51);
  }
}

TEST_CASE("work continues at once if no other task is ready, and ends at a stop everywhere") {
  test_world world;
  auto unposted = [](test_world& w) -> task<int> {
    long_work work;
    w.posted = 0;  // it was posted itself
    for (int i = 0; i != 100; ++i) {
      w.moment += 1ms;
      co_await work.breath();
      if (i == 90) w.env.stopping = true;
    }
    co_return 0;
  };
  auto got = world.result_of(unposted(world));
  CHECK(world.posted == 0);
  CHECK_FALSE(got.ok());
  CHECK(got.why().code() == status_code::cancelled);
}

TEST_CASE("parts follow each other, cover everything, and end where one says so") {
  using parts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  auto of = [](std::uint64_t n, std::uint64_t step, std::uint64_t last) {
    test_world world;
    parts seen;
    auto note = [&](std::uint64_t from, std::uint64_t to) {
      seen.emplace_back(from, to);
      return to < last;
    };
    long_work work;
    world.run(in_steps(work, n, step, note));
    return seen;
  };
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  CHECK(of(0, 3, kMost).empty());
  CHECK(of(3, 3, kMost) == parts{{0, 3}});
  CHECK(of(8, 3, kMost) == parts{{0, 3}, {3, 6}, {6, 8}});
  CHECK(of(kMost, kMost - 1, kMost) == parts{{0, kMost - 1}, {kMost - 1, kMost}});
  CHECK(of(8, 3, 4) == parts{{0, 3}, {3, 6}});
}

}  // namespace sluice::lib::long_work_test
