// SPDX-License-Identifier: Apache-2.0
// Stages with more inputs than two: users' coroutines over a vector of streams, and chains of combines.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/saved.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::many_inputs_test {
namespace {

using int64 = std::int64_t;
using numbers = stream<int64>;
using test::consumed;
using test::consumption;
using test::int64s;

constexpr int kInputs = 7;

/// Takes one of each input, and says where it can go on: between two inputs it remembers what it took.
numbers sums_of(saved<int64> rounds, std::vector<numbers> in) {
  for (;;) {
    rounds.commit();
    int64 sum = 0;
    bool ended = false;
    for (numbers& one : in) {
      auto x = co_await one.next();
      if (x) sum += *x;
      ended = ended || !x;
    }
    if (ended) break;
    ++*rounds;
    co_yield sum;
  }
}

/// The same with each stream as a parameter.
numbers sum_of_five(saved<int64> rounds, numbers a, numbers b, numbers c, numbers d, numbers e) {
  for (;;) {
    rounds.commit();
    auto x = co_await a.next();
    int64 sum = x ? *x : 0;
    auto y = co_await b.next();
    sum += y ? *y : 0;
    auto z = co_await c.next();
    sum += z ? *z : 0;
    auto v = co_await d.next();
    sum += v ? *v : 0;
    auto w = co_await e.next();
    if (!x || !y || !z || !v || !w) break;
    sum += *w;
    ++*rounds;
    co_yield sum;
  }
}

int64 thousandfold(int64 x) { return x * 1000; }
int64 odd_bad(int64 x) {
  if (x == 30) throw_status(data_loss_error("thirty"));
  return x;
}

/// Input number i: blocks of its own size, some behind channels.
dataset<int64> input(int i) {
  auto n = range(60 + i);
  switch (i % 4) {
    case 0: return n;
    case 1: return n | batch(5 + i) | unbatch();
    case 2: return n | prefetch(2);
    default: return n | filter([](int64) { return true; }) | map(thousandfold);
  }
}
int64s sums(int inputs) {
  int64s out;
  for (int64 x = 0; x != 60; ++x) {
    int64 sum = 0;
    for (int i = 0; i != inputs; ++i) sum += i % 4 == 3 ? x * 1000 : x;
    out.push_back(sum);
  }
  return out;
}

void resumes_everywhere(runtime& rt, const dataset<int64>& ds, const int64s& expected) {
  for (std::uint32_t ask : {0u, 7u}) {
    consumption how;
    how.save = true;
    how.marks_every = 9;
    how.ask_max = ask;
    consumed full = consume_on(rt, ds, how);
    CHECK(full.why.to_string() ==
          "ok");  // the inputs are runs of their own, which give their memory back a little later
    CHECK(full.elements == expected);
    CHECK(full.length == expected.size());
    for (std::size_t at = 0; at < full.places.size(); at += 3) {
      if (full.places[at].empty()) continue;
      CAPTURE(ask, at);
      consumption again;
      again.from = full.places[at];
      again.ask_max = 5;
      consumed rest = consume_on(rt, ds, again);
      CHECK(rest.why.to_string() == "ok");
      CHECK(rest.elements == int64s(expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end()));
      CHECK(rest.length == expected.size());
    }
  }
}

}  // namespace

TEST_CASE("a user's stage over a vector of seven streams resumes at each element") {
  simulation world(3);
  runtime rt(world, {.workers = 2});
  auto ds = generate([&rt] {
    std::vector<numbers> in;
    for (int i = 0; i != kInputs; ++i) in.push_back(input(i).iterate(rt));
    return sums_of(saved<int64>(), std::move(in));
  });
  resumes_everywhere(rt, ds, sums(kInputs));
}

TEST_CASE("a user's stage with five streams as parameters resumes at each element") {
  simulation world(4);
  runtime rt(world, {.workers = 2});
  auto ds = generate([&rt] {
    return sum_of_five(saved<int64>(), input(0).iterate(rt), input(1).iterate(rt), input(2).iterate(rt),
                       input(3).iterate(rt), input(4).iterate(rt));
  });
  resumes_everywhere(rt, ds, sums(5));
}

TEST_CASE("an error of the last of seven inputs ends the stage after the elements before it") {
  simulation world(5);
  runtime rt(world, {.workers = 2});
  auto ds = generate([&rt] {
    std::vector<numbers> in;
    for (int i = 0; i != kInputs - 1; ++i) in.push_back(input(i).iterate(rt));
    in.push_back((range(60) | map(odd_bad)).iterate(rt));
    return sums_of(saved<int64>(), std::move(in));
  });
  consumed got = test::consume_on(rt, ds, {});
  CHECK(got.why.code() == status_code::data_loss);
  CHECK(got.elements.size() == 30);
}

TEST_CASE("the end of an input after a shorter one is found without an element beyond it") {
  auto largest = std::make_shared<int64>(-1);
  auto behind = range(100) | map([largest](int64 x) {
                  *largest = std::max(*largest, x);
                  return x;
                });
  auto ds = zip(range(3), behind) | map([](const std::pair<int64, int64>& p) { return p.first; });
  consumption how;
  how.skip = 50;
  consumed got = test::consume(ds, how);
  CHECK(got.complaint() == "");
  CHECK(got.length == 3);
  CHECK(*largest == 2);
}

TEST_CASE("an interleave requests from its inputs their share of the demand") {
  auto made = std::make_shared<std::uint64_t>(0);
  auto noting = [made](int64 x) {
    ++*made;
    return x;
  };
  auto inner = [noting](int64) { return range(1000) | map(noting); };
  for (int64 cycle : {2, 8, 30}) {
    auto ds = range(100) | interleave(inner, {.cycle_length = cycle});
    for (std::uint32_t ask : {1u, 7u, 20u}) {
      for (std::size_t taken : {7, 40}) {
        CAPTURE(cycle, ask, taken);
        *made = 0;
        consumption how;
        how.ask_max = ask;
        how.asks_all = true;
        how.elements_max = taken;
        CHECK(test::consume(ds, how).elements.size() == taken);
        CHECK(*made >= taken);
        CHECK(*made < taken + ask);  // one request's shares, where visits are shorter
      }
    }
  }
}

TEST_CASE("a position of three inputs is no position of two") {
  auto sum_two = [](const std::pair<int64, int64>& p) { return p.first + p.second; };
  auto sum_three = [](const std::tuple<int64, int64, int64>& t) { return std::get<0>(t) + std::get<2>(t); };
  auto two = zip(range(9), range(9)) | map(sum_two);
  auto three = zip(range(9), range(9), range(9)) | map(sum_three);
  consumption how;
  how.save = true;
  how.from = test::consume(three, how).places[4];
  consumed got = test::consume(two, how);
  CHECK(got.elements.empty());
  CHECK(got.complaint() != "");
}

}  // namespace sluice::lib::many_inputs_test
