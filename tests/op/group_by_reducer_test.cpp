// SPDX-License-Identifier: Apache-2.0
// sluice/op/group_by_reducer.hpp, src/op/group_by_reducer/group_states.hpp
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/arithmetic.hpp"
#include "support/trials/op_conformance.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::group_by_reducer_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

/// What is known of a group: its key, and its elements in order.
struct tally {
  int64 key = 0;
  int64 elements = 0;
};
SLUICE_FUNCTION(group_tens, [](int64 x) { return x / 10; });
SLUICE_FUNCTION(group_digit, [](const int64& x) { return std::to_string(x % 10); });
SLUICE_FUNCTION(group_begin, [](int64 key) { return tally{key, 0}; });
SLUICE_FUNCTION(group_add, [](tally& t, int64 x) { t.elements = number_of(t.elements, x); });
SLUICE_FUNCTION(group_number, [](const tally& t) { return number_of(t.elements, t.key); });
SLUICE_FUNCTION(group_sum, [](int64& sum, int64 x) { sum = added(sum, x); });

int64s up_to(int64 n) {
  int64s all;
  for (int64 x = 0; x != n; ++x) all.push_back(x);
  return all;
}
int64s tens_of(const int64s& in) {
  std::map<int64, int64> elements;
  for (int64 x : in) elements[x / 10] = number_of(elements[x / 10], x);
  int64s out;
  for (auto& [key, number] : elements) out.push_back(number_of(number, key));
  return out;
}

}  // namespace

TEST_CASE("group_by_reducer conforms") {
  auto nothing = [](const int64s&) { return int64s(); };
  auto all = [](const int64s& in, std::size_t k) { return k ? in.size() : 0; };
  conforms(
      {.stage = [](const auto& in) { return in | group_by_reducer(group_tens, group_begin, group_add, group_number); },
       .expected = tens_of,
       .before_error = nothing,
       .needs = all});
  conforms({.stage =
                [](const auto& in) {
                  return in | group_by_reducer(group_tens, group_begin, group_add, group_number) | prefetch(2);
                },
            .expected = tens_of,
            .before_error = nothing});
}

TEST_CASE("group_by_reducer takes elements of every kind, each once") {
  conforms_over_kinds(
      [](auto as, const auto& in) {
        using As = decltype(as);
        using T = decltype(As::made(0));
        auto tens = [](const T& x) { return As::number(x) / 10; };
        auto add = [](tally& t, T x) { group_add(t, As::number(x)); };
        return in | map(As::made) | group_by_reducer(tens, group_begin, add, group_number);
      },
      {.expected = tens_of});
}

TEST_CASE("a state may be an element of any kind") {
  auto by = [](int64 x) { return x % 3; };
  auto kept = [by](auto as) {
    using As = decltype(as);
    auto keep = [](std::vector<int64>& all, int64 x) { all.push_back(x); };
    auto last = [](const std::vector<int64>& all) { return As::made(all.back()); };
    return range(20) | group_by_reducer(by, std::vector<int64>(), keep, last) | map(As::number);
  };
  for (const auto& ds : {kept(as_text()), kept(as_record()), kept(as_move_only()), kept(as_counting())})
    resumes_everywhere(ds, {18, 19, 17});
  // Without a last function the state is the element.
  auto all = range(7) | group_by_reducer(by, [](std::vector<int64>& some, int64 x) { some.push_back(x); });
  resumes_everywhere(all | map([](const std::vector<int64>& some) { return some[1] * 10 + some[0]; }), {30, 41, 52});
}

TEST_CASE("a key may be a view of its element, and a result") {
  auto by_text = [](const std::string& s) { return std::string_view(s).substr(0, 1); };
  auto begin = [](const std::string& key) { return static_cast<int64>(key[0]) * 100; };
  auto count = [](int64& n, const std::string&) { ++n; };
  auto texts = from_elements(std::vector<std::string>{"bat", "ant", "bee", "cat", "ape", "bug"});
  CHECK(consume(texts | group_by_reducer(by_text, begin, count), {}).elements == int64s{9702, 9803, 9901});
}

namespace {

/// Groups of `bytes` each in a checkpoint: of 0, 1 … n-1, each taken twice. Counts calls.
dataset<int64> large_groups(int64 n, std::size_t bytes, std::shared_ptr<int64> calls) {
  auto by = [n](int64 x) { return x % n; };
  auto add = [bytes, calls](std::string& s, int64 x) {
    ++*calls;
    if (s.empty()) s = std::to_string(x) + " " + std::string(bytes, 'x');
  };
  auto number = [](const std::string& s) { return static_cast<int64>(std::stoll(s)); };
  return range(2 * n) | group_by_reducer(by, std::string(), add, number);
}

}  // namespace

TEST_CASE("where groups leave, their states are in the checkpoint, and nothing is taken again") {
  auto calls = std::make_shared<int64>(0);
  auto ds = large_groups(40, 100, calls);
  consumption how;
  how.save = true;
  how.ask_max = 1;
  consumed whole = consume(ds, how);
  CHECK(whole.elements == up_to(40));
  CHECK(std::exchange(*calls, 0) == 80);
  for (std::size_t at = 1; at <= 40; ++at) {
    how.from = whole.places[at];
    CHECK(consume(ds, how).elements == without_first(up_to(40), at));
  }
  CHECK(*calls == 0);
  CHECK(whole.places[0].bytes.size() < 200);
  CHECK(whole.places[1].bytes.size() > 39 * 100);
  CHECK(whole.places[1].bytes.size() < 39 * 130 + 200);
  CHECK(whole.places[40].bytes.size() < 200);
}

TEST_CASE("groups whose states take more than a mebibyte together are made again, until fewer are left") {
  auto calls = std::make_shared<int64>(0);
  auto ds = large_groups(30, 60'000, calls);  // 17 of them fit
  consumption how;
  how.save = true;
  how.ask_max = 1;
  consumed whole = consume(ds, how);
  CHECK(whole.complaint() == "");
  CHECK(whole.elements == up_to(30));
  for (std::size_t at = 0; at <= 30; ++at) {
    CAPTURE(at);
    *calls = 0;
    how.from = whole.places[at];
    CHECK(whole.places[at].bytes.size() < (std::size_t{1} << 20) + 500);
    CHECK(consume(ds, how).elements == without_first(up_to(30), at));
    CHECK(*calls == (at < 13 ? 60 : 0));
  }
  // Below a channel, and in inner plans.
  resumes_everywhere(ds | prefetch(3), up_to(30));
  auto twice = range(2) | flat_map([&](int64) { return large_groups(25, 60'000, calls); });
  int64s expected = up_to(25);
  for (int64 x = 0; x != 25; ++x) expected.push_back(x);
  resumes_everywhere(twice, expected);
}

TEST_CASE("skipping groups calls no finish, and take(2) calls it twice") {
  auto finished = std::make_shared<int>(0);
  auto number = [finished](const tally& t) {
    ++*finished;
    return t.key;
  };
  auto ds = range(5'000) | group_by_reducer(group_tens, group_begin, group_add, number);
  CHECK(consume(ds | skip(497), {}).elements == int64s{497, 498, 499});
  CHECK(std::exchange(*finished, 0) == 3);
  consumption by_ones;
  by_ones.ask_max = 1;
  CHECK(consume(ds | take(2), by_ones).elements == int64s{0, 1});
  CHECK(std::exchange(*finished, 0) == 2);
  CHECK(consume(ds | skip(500), {}).elements.empty());
  CHECK(consume(ds | repeat(3) | skip(1'499), {}).elements == int64s{499});
  CHECK(*finished == 1);
}

TEST_CASE("a group that cannot be finished ends the run, or is counted in place of its element") {
  auto finish = [](std::string text) -> result<int64> {  // takes the state away, whatever comes of it
    if (text.size() == 7) return data_loss_error("seven");
    return static_cast<int64>(text.size());
  };
  auto add = [](std::string& text, int64) { text += 'x'; };
  auto by = [](int64 x) { return x % 3 == 1 ? int64{1} : x % 3 == 0 && x ? int64{0} : int64{2}; };
  auto ds = range(21) | group_by_reducer(by, std::string(), add, finish);  // 6, 7, 8
  consumption how;
  how.save = true;
  consumed got = consume(ds, how);
  CHECK(got.elements == int64s{6});
  how.on_error = error_policy::skip;
  how.from = got.places[1];
  CHECK(consume(ds, how).elements == int64s{8});
  how.from = {};
  CHECK(consume(ds | skip(1), how).elements == int64s{8});  // a group that cannot be finished is none to be passed over
  auto last = range(2) | group_by_reducer([](int64) { return true; }, std::string("12345"), add, finish);
  resumes_everywhere(last, {}, how);
}

TEST_CASE("the states of the groups are charged, and an error contains the number of groups") {
  simulation world(1);
  runtime rt(world, {.workers = 2, .memory_budget_bytes = std::size_t{1} << 20});
  auto hoard = [](std::vector<int64>& all, int64 x) { all.push_back(x); };
  auto sizes = [](const std::vector<int64>& all) { return static_cast<int64>(all.size()); };
  auto few = range(50'000) | group_by_reducer([](int64 x) { return x % 10; }, std::vector<int64>(), hoard, sizes);
  CHECK(consume_on(rt, few, {}).elements == int64s(10, 5'000));
  CHECK(rt.ledger().report().peak_bytes > 50'000 * sizeof(int64));
}

TEST_CASE("groups that have left are charged no more") {
  simulation world(1);
  runtime rt(world, {.workers = 1});
  auto ds = range(10'000) | group_by_reducer([](int64 x) { return x; }, group_sum);
  auto used = [&](std::uint64_t n) {
    auto s = ds.iterate(rt);
    auto take = [](stream<int64>& from, std::uint64_t some) -> task<void> {
      for (; some; --some) co_await from.next();
    };
    sync_wait(rt, take(s, n));
    return rt.ledger().report().used_bytes;
  };
  std::size_t at_first = used(1), later = used(9'000);
  CHECK(at_first > 9'000 * 80);
  CHECK(later < at_first / 4);
}

TEST_CASE("a group_by_reducer of registered functions prints as text and JSON, and is read again") {
  auto ds = range(35) | group_by_reducer(group_tens, group_begin, group_add, group_number);
  round_trips(*ds.plan(), "range(35) | group_by_reducer(group_tens, group_add, finish=group_number, init=group_begin)");
  CHECK(consume(dataset<int64>(parse_plan(plan_text(*ds.plan()))), {}).elements == tens_of(up_to(35)));
  CHECK(consume(dataset<int64>(parse_plan_json(plan_json(*ds.plan()))), {}).elements == tens_of(up_to(35)));
  round_trips(*(range(9) | group_by_reducer(group_digit, group_sum)).plan(),
              "range(9) | group_by_reducer(group_digit, group_sum)");
  auto finished = range(35) | group_by_reducer(group_tens, group_sum, [](int64 sum) { return -sum; });
  CHECK(consume(finished, {}).elements == int64s{-45, -145, -245, -160});
  round_trips(*(range(35) | group_by_reducer(group_tens, group_add, group_number)).plan(),
              "range(35) | group_by_reducer(group_tens, group_add, finish=group_number)");
  auto begun = range(3) | group_by_reducer(group_digit, 100, group_sum);
  round_trips(*begun.plan(), "range(3) | group_by_reducer(group_digit, group_sum, initial_state=\"00c801\")");
  CHECK(consume(dataset<int64>(parse_plan(plan_text(*begun.plan()))), {}).elements == int64s{100, 101, 102});
  CHECK(cardinality_of(*ds.plan()) == cardinality());
  resumes_everywhere(dataset<int64>(parse_plan(plan_text(*begun.plan()))), {100, 101, 102});
}

TEST_CASE("a checkpoint detects another version of each function of a group_by_reducer") {
  auto ds = [](int key, int add, int finish) {
    return range(25) |
           group_by_reducer(fn("tens", key, group_tens.function), group_begin, fn("add", add, group_add.function),
                            fn("number", finish, group_number.function));
  };
  consumption how;
  how.save = true;
  how.from = consume(ds(1, 1, 1), how).places[1];
  CHECK(consume(ds(1, 1, 1), how).elements == without_first(tens_of(up_to(25)), 1));
  CHECK_THAT(consume(ds(2, 1, 1), how).mistake, Contains("function `tens` has version 1 there, 2 here"));
  CHECK_THAT(consume(ds(1, 2, 1), how).mistake, Contains("function `add` has version 1 there, 2 here"));
  CHECK_THAT(consume(ds(1, 1, 2), how).mistake, Contains("function `number` has version 1 there, 2 here"));
}

}  // namespace sluice::lib::group_by_reducer_test
