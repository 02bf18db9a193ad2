// SPDX-License-Identifier: Apache-2.0
// Counters that are allocated when they are first written.
#include "sluice/coro/stage_counts.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <thread>
#include <vector>

#include "sluice/coro/detail/consumer_meter.hpp"

namespace sluice::lib::stage_counts_test {
namespace {

using namespace std::chrono_literals;

/// Returns the elements of each class.
std::array<std::uint64_t, kSizeClasses> by_class(const stage_counts& c) {
  std::array<std::uint64_t, kSizeClasses> all{};
  if (const stage_counts::rare_counts* rare = c.find_rare())
    for (std::size_t i = 0; i != kSizeClasses; ++i) all[i] = rare->by_size[i].elements.load();
  if (const std::uint8_t usual = c.usual_class.load(); usual != stage_counts::kNoClass)
    all[usual] += c.usual_size.elements.load();
  return all;
}

}  // namespace

TEST_CASE("elements of one size allocate no table of sizes; a second size does, and no element is lost") {
  stage_counts c;
  CHECK(by_class(c) == std::array<std::uint64_t, kSizeClasses>{});
  for (int i = 0; i != 10; ++i) c.add_to_class(300, 2, 7);
  CHECK(c.find_rare() == nullptr);
  CHECK(c.usual_size.ns.load() == 70);
  c.add_to_class(1, 5, 1);
  REQUIRE(c.find_rare() != nullptr);
  c.add_to_class(300, 1, 1);
  std::array<std::uint64_t, kSizeClasses> expected{};
  expected[size_class_of(1)] = 5;
  expected[size_class_of(300)] = 21;
  CHECK(by_class(c) == expected);
}

TEST_CASE("several threads that count first: no count is lost") {
  constexpr std::uint64_t kEach = 2000;
  for (int round = 0; round != 50; ++round) {
    stage_counts c;
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t != 4; ++t)
      threads.emplace_back([&c, t] {
        for (std::uint64_t i = 0; i != kEach; ++i) {
          c.add_to_class(std::uint64_t{1} << (4 * t), 1, 1);
          if (i % 100 == 0) c.add_wait(wait_reason::disk, 3ns);
        }
      });
    threads.clear();
    std::uint64_t sum = 0;
    for (std::uint64_t n : by_class(c)) sum += n;
    CHECK(sum == 4 * kEach);
    REQUIRE(c.find_rare() != nullptr);
    const auto& wait = c.find_rare()->waits[static_cast<std::size_t>(wait_reason::disk)];
    CHECK(wait.times.load() == 4 * kEach / 100);
    CHECK(wait.ns.load() == 3 * 4 * kEach / 100);
  }
}

TEST_CASE("a consumer's first request is in its bucket, as the later ones are") {
  consumer_meter meter;
  time_point now{};
  auto request = [&](duration took, std::uint64_t next) {
    if (!meter.asks()) return;
    meter.asked(now);
    now += took;
    meter.got(now, next);
  };
  request(3ns, 1);  // at least 2 ns and less than 4
  CHECK(meter.took_below(2) == 1);
  CHECK(meter.newest_stalls() == nullptr);
  request(3ns, 2);
  request(1000ns, 3);
  CHECK(meter.took_below(2) == 2);
  CHECK(meter.took_below(10) == 1);
  for (std::uint64_t i = 4; i != 20; ++i) request(3ns, i);
  CHECK(meter.newest_stalls() == nullptr);
  request(1ms, 20);
  REQUIRE(meter.newest_stalls() != nullptr);
  CHECK(meter.stalls.load() == 1);
  CHECK(meter.newest_stalls()->element[0].load() == 19);
  CHECK(meter.newest_stalls()->ns[0].load() == 1'000'000);
}

}  // namespace sluice::lib::stage_counts_test
