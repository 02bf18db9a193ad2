// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/ledger.hpp"

#include <catch2/catch.hpp>

#include <thread>
#include <vector>

using namespace sluice::lib;

TEST_CASE("what is charged is counted by purpose, and what is released is gone", "[ledger]") {
  memory_ledger l(100);
  l.charge(60, purpose::shuffle);
  l.charge(40, purpose::batch);
  CHECK(l.used_bytes() == 100);
  CHECK_FALSE(l.within_budget());
  l.release(60, purpose::shuffle);
  CHECK(l.within_budget());
  auto r = l.report();
  CHECK(r.used_bytes == 40);
  CHECK(r.peak_bytes == 100);
  CHECK(r.by_purpose[static_cast<std::size_t>(purpose::batch)] == 40);
  CHECK(r.by_purpose[static_cast<std::size_t>(purpose::shuffle)] == 0);
  l.release(40, purpose::batch);
  CHECK(l.used_bytes() == 0);
}

TEST_CASE("what must go on is charged beyond the budget, and the others see that", "[ledger]") {
  memory_ledger l(100);
  l.charge(150, purpose::channel);
  CHECK(l.report().peak_bytes == 150);
  CHECK_FALSE(l.within_budget());
  l.set_budget(200);
  CHECK(l.within_budget());
  l.set_budget(150);
  CHECK_FALSE(l.within_budget());
  l.release(150, purpose::channel);
}

TEST_CASE("a report says who holds what", "[ledger]") {
  memory_ledger l(std::size_t{64} << 20);
  l.charge(std::size_t{10} << 20, purpose::channel);
  l.charge(std::size_t{2} << 20, purpose::batch);
  CHECK(l.report().to_string() == "12.0 MiB of 64.0 MiB (channel 10.0 MiB, batch 2.0 MiB), peak 12.0 MiB");
}

TEST_CASE("buffers credit the ledger when they die, also after it is gone", "[ledger]") {
  buffer_ref survivor;
  {
    memory_ledger l(1 << 20);
    l.charge(5000, purpose::read_ahead);
    buffer_ref b(buffer::make(5000));
    b->charge(&l.account(purpose::read_ahead), 5000);
    buffer_ref copy = b;
    b = buffer_ref();
    CHECK(l.used_bytes() == 5000);
    copy = buffer_ref();
    CHECK(l.used_bytes() == 0);
    survivor = buffer_ref(buffer::make(100));
    l.charge(100, purpose::read_ahead);
    survivor->charge(&l.account(purpose::read_ahead), 100);
  }
  survivor = buffer_ref();
}

TEST_CASE("charges from several threads add up", "[ledger][stress]") {
  memory_ledger l(1000);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t != 4; ++t)
    threads.emplace_back([&l, t] {
      for (std::size_t i = 0; i != 2000; ++i) {
        auto p = static_cast<purpose>((t + i) % kPurposes);
        l.charge(1 + i % 400, p);
        l.release(1 + i % 400, p);
      }
    });
  for (auto& t : threads) t.join();
  auto r = l.report();
  CHECK(r.used_bytes == 0);
  for (std::size_t left : r.by_purpose) CHECK(left == 0);
}
