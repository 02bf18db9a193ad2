// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/ledger.hpp"

#include <catch2/catch.hpp>

#include "sluice/coro/scope.hpp"
#include "sluice/coro/sleep.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/simulation.hpp"

using namespace sluice;
using namespace std::chrono_literals;

namespace {

task<> take(memory_ledger& l, std::size_t bytes, std::vector<std::size_t>& order) {
  co_await l.charge(bytes);
  order.push_back(bytes);
}
task<> hold(memory_ledger& l, std::size_t bytes, duration d) {
  co_await l.charge(bytes, purpose::batch);
  co_await sleep_for(d);
  l.release(bytes, purpose::batch);
}
task<> join(scope& s) { co_await s.join(); }
void settle(simulation& w, scope& s) {
  auto nap = []() -> task<> { co_await sleep_for(1ms); };
  sync_wait(w, nap());
  (void)s;
}

}  // namespace

TEST_CASE("the budget is hard for whoever asks, and counts by purpose", "[ledger]") {
  memory_ledger l(100);
  CHECK(l.try_charge(60, purpose::shuffle));
  CHECK_FALSE(l.try_charge(41));
  CHECK(l.try_charge(40, purpose::batch));
  CHECK(l.used_bytes() == 100);
  l.release(60, purpose::shuffle);
  auto r = l.report();
  CHECK(r.used_bytes == 40);
  CHECK(r.peak_bytes == 100);
  CHECK(r.overdraft_peak_bytes == 0);
  CHECK(r.by_purpose[static_cast<std::size_t>(purpose::batch)] == 40);
  CHECK(r.by_purpose[static_cast<std::size_t>(purpose::shuffle)] == 0);
  l.release(40, purpose::batch);
}

TEST_CASE("an overdraft is taken, counted, and makes the others wait until it is paid", "[ledger]") {
  memory_ledger l(100);
  l.charge_anyway(150);
  CHECK(l.report().overdraft_peak_bytes == 50);
  CHECK_FALSE(l.try_charge(1));
  l.release(150);
  CHECK(l.try_charge(100));
}

TEST_CASE("those who wait are served in turn, and a small one does not overtake a large one", "[ledger]") {
  simulation w(1);
  memory_ledger l(100);
  std::vector<std::size_t> order;
  REQUIRE(l.try_charge(80));
  scope s(w.env());
  s.spawn(take(l, 50, order));
  settle(w, s);
  s.spawn(take(l, 10, order));
  settle(w, s);
  CHECK(order.empty());
  CHECK_FALSE(l.try_charge(1));
  l.release(30);
  settle(w, s);
  CHECK(order == std::vector<std::size_t>{50});
  l.release(50);
  sync_wait(w, join(s));
  CHECK(order == std::vector<std::size_t>{50, 10});
  CHECK(l.used_bytes() == 60);
  CHECK(l.report().waits == 2);
}

TEST_CASE("a stopped waiter charges nothing and lets the next one have its turn", "[ledger]") {
  simulation w(2);
  memory_ledger l(100);
  std::vector<std::size_t> order;
  REQUIRE(l.try_charge(80));
  scope large(w.env()), small(w.env());
  large.spawn(take(l, 50, order));
  settle(w, large);
  small.spawn(take(l, 20, order));
  settle(w, small);
  CHECK(order.empty());
  large.request_stop();
  sync_wait(w, join(large));
  sync_wait(w, join(small));
  CHECK(order == std::vector<std::size_t>{20});
  CHECK(l.used_bytes() == 100);
}

TEST_CASE("more than the whole budget is refused with a message, not waited for", "[ledger]") {
  simulation w(3);
  memory_ledger l(std::size_t{1} << 20);
  std::vector<std::size_t> order;
  status why = sync_wait_result(w.env(), take(l, std::size_t{2} << 20, order));
  CHECK(why.code() == status_code::resource_exhausted);
  CHECK_THAT(why.to_string(), Catch::Contains("2.0 MiB at once do not fit into the memory budget of 1.0 MiB"));
}

TEST_CASE("a smaller budget refuses waiters that can no longer be served, a larger one serves them", "[ledger]") {
  simulation w(4);
  memory_ledger l(100);
  std::vector<std::size_t> order;
  REQUIRE(l.try_charge(100));
  scope s(w.env());
  s.spawn(take(l, 50, order));
  settle(w, s);
  l.set_budget(150);
  sync_wait(w, join(s));
  CHECK(order == std::vector<std::size_t>{50});
  scope t(w.env());
  t.spawn(take(l, 140, order));
  settle(w, t);
  l.set_budget(120);
  l.release(150);
  CHECK(sync_wait_result(w.env(), join(t)).code() == status_code::resource_exhausted);
}

TEST_CASE("buffers credit the ledger when they die, also after it is gone", "[ledger]") {
  buffer_ref survivor;
  {
    memory_ledger l(1 << 20);
    REQUIRE(l.try_charge(5000, purpose::read_ahead));
    buffer_ref b(buffer::make(5000));
    b->charge(&l.account(purpose::read_ahead), 5000);
    buffer_ref copy = b;
    b = buffer_ref();
    CHECK(l.used_bytes() == 5000);
    copy = buffer_ref();
    CHECK(l.used_bytes() == 0);
    survivor = buffer_ref(buffer::make(100));
    l.charge_anyway(100, purpose::read_ahead);
    survivor->charge(&l.account(purpose::read_ahead), 100);
  }
  survivor = buffer_ref();
}

TEST_CASE("many tasks on two workers never exceed the budget and leave nothing charged", "[ledger][stress]") {
  runtime rt({.workers = 2, .memory_budget_bytes = 1000});
  auto all = [](memory_ledger& l) -> task<> {
    environment* env = co_await this_environment();
    scope s(*env);
    for (std::size_t i = 0; i < 500; ++i) s.spawn(hold(l, 1 + i * 7 % 400, std::chrono::microseconds(i % 5)));
    co_await s.join();
  };
  sync_wait(rt, all(rt.ledger()));
  CHECK(rt.ledger().used_bytes() == 0);
  CHECK(rt.ledger().report().peak_bytes <= 1000);
  CHECK(rt.ledger().report().peak_bytes >= 400);
}
