// SPDX-License-Identifier: Apache-2.0
// Whichever input is ready first: src/ahead/any_input.hpp, by a stage of this file.
#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "ahead/any_input.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/elements.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::any_input_test {
namespace {

using namespace std::chrono_literals;
using int64 = std::int64_t;
using test::consumed;
using test::consumption;
using test::int64s;

/// Which input each element came from, since the last mark.
struct choices {
  decision_log log;
  std::deque<std::uint64_t> replay;

  void save(position_writer& w) {
    w.number(replay.size());
    for (auto c : replay) w.number(c);
    w.log(log.here());
  }
  void load(position_reader& r) {
    for (int part = 0; part != 2; ++part)
      for (std::size_t n = r.count(); n; --n) replay.push_back(r.number());
  }
};

/// One element at a time of whichever input has one. It asks for some at once, so that it leaves some of their views.
erased_stream first_come_loop(outlet, saved<choices> made, input_set in, any_input any) {
  for (;;) {
    std::size_t chosen = 0;
    if (!made->replay.empty()) {
      chosen = made->replay.front();
      if (chosen >= in.size()) co_await fail(damaged_position());
      made->replay.pop_front();
      co_await in[chosen].ready({0, 1});
      if (in[chosen].left() == 0) co_await fail(damaged_position());
    } else {
      auto choosing = any.next(in, {0, 4});
      chosen = co_await choosing;
      if (chosen == any_input::kNone) break;
      if (in[chosen].left() == 0) continue;
      made->log.add(chosen);
    }
    block one = in[chosen].take(1);
    co_yield one;
  }
}
erased_stream open_first_come(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<choices> made;
  any_input any(context.run, context.memory_of(n, "first_come"), n.inputs.size());
  return first_come_loop(out, std::move(made), context.open_inputs(n), std::move(any));
}
const op_info kFirstCome{.name = "first_come",
                         .doc = "whichever input is ready first",
                         .shape = op_info::combine,
                         .type = same_type,
                         .lowering = {.open = open_first_come}};

class with_first_come {
 public:
  with_first_come() : table_(operators().begin(), operators().end()), scope_((table_.push_back(&kFirstCome), table_)) {}

 private:
  std::vector<const op_info*> table_;
  scoped_operators scope_;
};

template <class T, class... More> dataset<T> first_come(const dataset<T>& a, const More&... more) {
  return dataset<T>(make_combine(kFirstCome, arguments::of(no_arguments{}), {a.plan(), more.plan()...}));
}

task<int64> after(std::chrono::microseconds time, int64 x) {
  co_await sleep_for(time);
  co_return x;
}
/// `n` elements from `first` on, one in each `each` of virtual time.
dataset<int64> paced(int64 first, int64 n, std::chrono::microseconds each) {
  return range(first + n, {.start = first}) | map([each](int64 x) { return after(each, x); });
}

int64s sorted(int64s v) {
  std::sort(v.begin(), v.end());
  return v;
}
int64s from_to(int64 first, int64 last) {
  int64s all;
  for (int64 i = first; i < last; ++i) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("of inputs that wait the one comes first that is ready first") {
  with_first_come known;
  consumed got = test::consume(first_come(paced(0, 3, 1000us), paced(100, 8, 300us)), {});
  CHECK(got.complaint() == "");
  // At 300, 600, 900, 1000, 1200 … microseconds.
  CHECK(got.elements == int64s{100, 101, 102, 0, 103, 104, 105, 1, 106, 107, 2});
}

TEST_CASE("an input that need not wait is asked where it is, and does not starve the others") {
  with_first_come known;
  consumed got = test::consume(first_come(range(1000), paced(5000, 2, 1us), range(3000, {.start = 2000})), {});
  CHECK(got.complaint() == "");
  CHECK(got.elements.size() == 2002);
  CHECK(std::find(got.elements.begin(), got.elements.begin() + 10, 2000) != got.elements.begin() + 10);
  CHECK(sorted(got.elements) == [] {
    int64s all = from_to(0, 1000), second = from_to(2000, 3000);
    all.insert(all.end(), second.begin(), second.end());
    all.insert(all.end(), {5000, 5001});
    return all;
  }());
}

TEST_CASE("an input that has ended is not waited for, and one that never gives does not hold the others") {
  with_first_come known;
  auto never = paced(0, 1, std::chrono::hours(1));
  consumption how;
  how.elements_max = 5;
  consumed got = test::consume(first_come(never, paced(100, 5, 10us), range(0)), how);
  CHECK(got.complaint() == "");
  CHECK(got.elements == from_to(100, 105));
}

TEST_CASE("an input's error comes when that input is chosen, and a stop ends the wait") {
  with_first_come known;
  auto broken = paced(0, 3, 100us) | map([](int64 x) {
                  if (x == 2) throw_status(data_loss_error("broken here"));
                  return x;
                });
  consumed got = test::consume(first_come(broken, paced(100, 50, 30us)), {});
  CHECK(got.why.code() == status_code::data_loss);
  consumption how;
  how.stop_after = 3;
  got = test::consume(first_come(paced(0, 10, 1000us), paced(100, 10, 1000us)), how);
  CHECK(got.mistake == "");
  CHECK(got.why.code() == status_code::cancelled);
}

TEST_CASE("elements that own something are taken out of a view one by one, each destroyed once") {
  with_first_come known;
  test::lifetimes watched;
  auto made = [](const dataset<int64>& in) { return in | map(test::as_counting::made); };
  auto all = first_come(made(range(50)), made(paced(100, 20, 5us)), made(range(250, {.start = 200})));
  consumed got = test::consume(all | prefetch(3) | map(test::as_counting::number), {});  // which moves them out
  CHECK(got.complaint() == "");
  CHECK(got.elements.size() == 120);
  consumption how;  // some are only read, others are passed over
  how.ask_max = 2;
  how.pass_max = 2;
  got = test::consume(all | map(test::as_counting::number), how);
  CHECK(got.complaint() == "");
  CHECK(got.length == 120);
  CHECK(watched.complaint() == "");
}

TEST_CASE("on two workers whichever comes first is taken, and none is lost") {
  with_first_come known;
  runtime rt({.workers = 2});
  auto ds =
      first_come(range(3000) | prefetch(8), paced(10'000, 40, 20us), range(23'000, {.start = 20'000}) | prefetch());
  for (std::uint64_t i = 0; i != 20; ++i) {
    consumption how;
    how.ask_max = i % 2 ? 0 : 50;
    how.marks_every = 100;
    how.seed = i;
    consumed got = test::consume_on(rt, ds, how);
    CHECK(got.complaint() == "");
    int64s all = from_to(0, 3000), second = from_to(10'000, 10'040), third = from_to(20'000, 23'000);
    all.insert(all.end(), second.begin(), second.end());
    all.insert(all.end(), third.begin(), third.end());
    CHECK(sorted(got.elements) == all);
  }
}

TEST_CASE("a run continues from every element with its recorded choices, for any timing") {
  with_first_come known;
  for (std::uint64_t seed = 1; seed != 6; ++seed) {
    CAPTURE(seed);
    auto ds = first_come(paced(0, 20, 70us), paced(100, 20, 50us) | prefetch(2), range(220, {.start = 200}));
    consumption how;
    how.save = true;
    how.marks_every = 3;
    how.ask_max = 1;
    how.seed = seed;
    consumed full = test::consume(ds, how);
    CHECK(full.complaint() == "");
    REQUIRE(full.elements.size() == 60);
    for (std::size_t at = 0; at < full.places.size(); at += 7) {
      CAPTURE(at);
      consumption again;
      again.from = full.places[at];
      again.seed = seed * 100 + at;
      consumed rest = test::consume(ds, again);
      CHECK(rest.complaint() == "");
      int64s all(full.elements.begin(), full.elements.begin() + static_cast<std::ptrdiff_t>(at));
      all.insert(all.end(), rest.elements.begin(), rest.elements.end());
      CHECK(sorted(all) == sorted(full.elements));
      CHECK(rest.length == 60);
    }
  }
}

}  // namespace sluice::lib::any_input_test
