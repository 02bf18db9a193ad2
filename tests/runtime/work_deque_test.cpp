// SPDX-License-Identifier: Apache-2.0
#include "runtime/threads/work_deque.hpp"

#include <catch2/catch.hpp>

#include <memory>
#include <thread>
#include <vector>

namespace sluice::lib::work_deque_test {
using sluice::lib::detail::work_deque;

namespace {
void* item(std::uintptr_t n) { return reinterpret_cast<void*>(n); }
}  // namespace

TEST_CASE("the owner pops the newest and thieves steal the oldest", "[work_deque]") {
  auto d = std::make_unique<work_deque>();
  CHECK(d->empty());
  CHECK(d->pop() == nullptr);
  CHECK(d->steal() == nullptr);
  for (std::uintptr_t i = 1; i <= 4; ++i) REQUIRE(d->push(item(i)));
  CHECK(d->pop() == item(4));
  CHECK(d->steal() == item(1));
  CHECK(d->steal() == item(2));
  CHECK(d->pop() == item(3));
  CHECK(d->pop() == nullptr);
  CHECK(d->empty());
}

TEST_CASE("a full deque refuses, and takes again after a steal, however often it wraps", "[work_deque]") {
  auto d = std::make_unique<work_deque>();
  std::uintptr_t next = 1, oldest = 1;
  while (d->push(item(next))) ++next;
  CHECK(next - 1 == work_deque::kCapacity);
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(d->steal() == item(oldest++));
    REQUIRE(d->push(item(next++)));
    REQUIRE_FALSE(d->push(item(next)));
  }
}

TEST_CASE("under contention every item is taken exactly once, and its memory is visible", "[work_deque][stress]") {
  constexpr std::size_t kItems = 200'000;
  auto d = std::make_unique<work_deque>();
  std::vector<std::uint64_t> payload(kItems + 1);  // plain memory: a missing happens-before is a race that TSan reports
  std::vector<std::atomic<int>> taken(kItems + 1);
  std::atomic<bool> over{false};
  auto take = [&](void* p) {
    auto i = reinterpret_cast<std::uintptr_t>(p);
    if (payload[i] == i * 3) taken[i].fetch_add(1);
  };
  std::vector<std::thread> thieves;
  for (int t = 0; t < 2; ++t)
    thieves.emplace_back([&] {
      while (!over.load() || !d->empty())
        if (void* p = d->steal()) take(p);
    });
  for (std::uintptr_t i = 1; i <= kItems; ++i) {
    payload[i] = i * 3;
    while (!d->push(item(i)))
      if (void* p = d->pop()) take(p);
    if (i % 3 == 0)
      if (void* p = d->pop()) take(p);
  }
  while (void* p = d->pop()) take(p);
  over = true;
  for (auto& t : thieves) t.join();
  std::size_t wrong = 0;
  for (std::size_t i = 1; i <= kItems; ++i) wrong += taken[i] != 1;
  CHECK(wrong == 0);
}

}  // namespace sluice::lib::work_deque_test
