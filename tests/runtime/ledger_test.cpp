// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/ledger.hpp"

#include <catch2/catch.hpp>

#include <thread>
#include <vector>

namespace sluice::lib::ledger_test {

TEST_CASE("charged bytes are counted by purpose, and released ones are not", "[ledger]") {
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

TEST_CASE("necessary work is charged beyond the budget, and others see it", "[ledger]") {
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

TEST_CASE("a report names each holder", "[ledger]") {
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
    b->charge(&l.line(purpose::read_ahead), 5000);
    buffer_ref copy = b;
    b = buffer_ref();
    CHECK(l.used_bytes() == 5000);
    copy = buffer_ref();
    CHECK(l.used_bytes() == 0);
    survivor = buffer_ref(buffer::make(100));
    l.charge(100, purpose::read_ahead);
    survivor->charge(&l.line(purpose::read_ahead), 100);
  }
  survivor = buffer_ref();
}

TEST_CASE("a report names each stage's memory and its number of places", "[ledger]") {
  memory_ledger l(std::size_t{64} << 20);
  ledger_line& shuffles = l.line(purpose::shuffle, "shuffle");
  ledger_line& files = l.line(purpose::open_file, "tfrecord");
  l.change(0, 0, shuffles, 2);
  l.charge(std::size_t{6} << 20, shuffles);
  l.charge(std::size_t{4} << 20, files);
  l.charge(std::size_t{8} << 20, l.line(purpose::channel, "map(f)"));
  CHECK(&l.line(purpose::shuffle, "shuffle") == &shuffles);
  CHECK(l.held_bytes() == std::size_t{10} << 20);
  ledger_report r = l.report();
  CHECK(r.held_text() == "shuffle 6.0 MiB in 2 places, tfrecord (open file) 4.0 MiB");
  REQUIRE(r.lines.size() == 3);
  CHECK(r.lines[0].stage == "map(f)");
  l.release(std::size_t{8} << 20, l.line(purpose::channel, "map(f)"));
  CHECK(l.report().lines[0].peak_bytes == std::size_t{8} << 20);
}

TEST_CASE("a line of its own has its own bytes, and counts on the line of its name") {
  memory_ledger l(100);
  own_ledger_line one = l.open_line(purpose::shuffle, "shuffle"), other = l.open_line(purpose::shuffle, "shuffle");
  l.change(0, 60, one.get(), 1);
  l.change(0, 30, other.get(), 1);
  l.change(60, 10, one.get());
  CHECK(one.report().stage == "shuffle");
  CHECK(one.report().held_for == purpose::shuffle);
  CHECK((one.report().used_bytes == 10 && one.report().peak_bytes == 60 && one.report().holders == 1));
  CHECK((other.report().used_bytes == 30 && other.report().peak_bytes == 30));
  CHECK(l.held_bytes() == 40);
  ledger_report all = l.report();
  REQUIRE(all.lines.size() == 1);
  CHECK((all.lines[0].used_bytes == 40 && all.lines[0].peak_bytes == 90 && all.lines[0].holders == 2));
  l.change(30, 0, other.get(), -1);
  other = own_ledger_line();
  CHECK(l.report().lines[0].used_bytes == 10);
  l.add_guess(10, one.get());
  l.change(10, 95, one.get());
  CHECK(one.report().peak_bytes == 85);
  l.add_guess(-10, one.get());
  l.change(95, 0, one.get(), -1);
}

TEST_CASE("a line of its own lives as long as a buffer is charged to it, also after the ledger") {
  buffer_ref survivor(buffer::make(100));
  {
    memory_ledger l(1 << 20);
    own_ledger_line line = l.open_line(purpose::read_ahead, "tfrecord");
    l.charge(100, line.get());
    survivor->charge(&line.get(), 100);
    line = own_ledger_line();
    CHECK(l.report().lines[0].used_bytes == 100);
  }
  survivor = buffer_ref();
}

namespace {

struct counting_waiter final : room_waiter {
  int calls = 0;
  void room_again() noexcept override { ++calls; }
};

}  // namespace

TEST_CASE("who works ahead charges first, and is called once when there is room", "[ledger]") {
  memory_ledger l(100);
  ledger_line& line = l.line(purpose::channel, "map");
  auto first = std::make_shared<counting_waiter>(), second = std::make_shared<counting_waiter>();
  CHECK(l.try_charge(98, line, first));
  CHECK_FALSE(l.try_charge(60, line, first));
  CHECK_FALSE(l.try_charge(50, line, second));
  CHECK(l.used_bytes() == 98);
  l.change(98, 96, line);
  CHECK((first->calls == 0 && second->calls == 0));  // too little to be worth a call
  l.change(96, 40, line);
  CHECK((first->calls == 1 && second->calls == 1));
  l.release(40, line);
  CHECK((first->calls == 1 && second->calls == 1));
  CHECK(l.try_charge(1000, line));  // alone: it may exceed by itself
  CHECK_FALSE(l.try_charge(1, line));
  CHECK(l.charge_up_to(10, line) == 0);
  CHECK_FALSE(l.charge_within(1, 500, line));
  CHECK(l.charge_within(100, 1000, line));
  l.release(1100, line);
  CHECK(l.charge_up_to(1000, line) == 100);
  l.release(100, line);
}

TEST_CASE("a guess counts against the budget, not as a peak", "[ledger]") {
  memory_ledger l(100);
  ledger_line& line = l.line(purpose::channel, "map");
  l.add_guess(50, line);
  CHECK(l.try_charge(50, line));
  CHECK_FALSE(l.try_charge(60, line));
  CHECK(l.report().peak_bytes == 0);
  l.add_guess(-50, line);
  l.change(50, 20, line);
  CHECK(l.report().peak_bytes == 20);
  CHECK(l.report().lines[0].peak_bytes == 20);
  l.release(20, line);
}

TEST_CASE("a waiter that is gone is not called", "[ledger]") {
  memory_ledger l(10);
  l.charge(10, purpose::channel);
  {
    auto gone = std::make_shared<counting_waiter>();
    CHECK_FALSE(l.try_charge(5, l.line(purpose::channel), gone));
  }
  auto here = std::make_shared<counting_waiter>();
  CHECK_FALSE(l.try_charge(5, l.line(purpose::channel), here));
  l.release(10, purpose::channel);
  CHECK(here->calls == 1);
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

}  // namespace sluice::lib::ledger_test
