// SPDX-License-Identifier: Apache-2.0
// sluice/op/map.hpp
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::map_test {
namespace {

using namespace test;
using int64 = std::int64_t;

/// A coroutine that uses what it captured after it was suspended, as a lambda with captures would.
struct adding {
  std::shared_ptr<int64> more;
  task<int64> operator()(int64 x) const {
    co_await sleep_for(std::chrono::microseconds(20));
    int64 result = x + *more;
    co_return result;
  }
};

task<int64> next_of(stream<int64>& s) {
  auto x = co_await s.next();
  int64 result = x ? *x : -1;
  co_return result;
}

/// Counts its calls; the count outlives the plan's copies of it.
struct counting {
  std::shared_ptr<int> calls = std::make_shared<int>();
  int64 operator()(int64 x) const {
    ++*calls;
    return x;
  }
};

}  // namespace

TEST_CASE("map keeps the captures of an awaited function until its last call has ended") {
  auto more = std::make_shared<int64>(100);
  std::weak_ptr<int64> alive = more;
  runtime rt({.workers = 2});
  {
    // The dataset and the lambda are gone when the first call begins: the run has the plan, and the plan the function.
    auto s = (range(50) | map(adding{std::move(more)}, {.parallelism = 8})).iterate(rt);
    for (int64 i = 0; i != 50; ++i) CHECK(sync_wait(rt, next_of(s)) == 100 + i);
    CHECK(!alive.expired());
  }
}

TEST_CASE("take(5) above a map calls its function five times") {
  counting f;
  CHECK(consume(range(100) | map(f) | take(5), {}).elements.size() == 5);
  CHECK(*f.calls == 5);
}

TEST_CASE("a lone next() calls the function once") {
  counting f;
  consumption how;
  how.elements_max = 1;
  CHECK(consume(range(100) | map(f), how).elements == int64s{0});
  CHECK(*f.calls == 1);
}

TEST_CASE("skipping elements does not call the function for them") {
  counting f;
  CHECK(consume(range(100) | map(f) | skip(97), {}).elements == int64s{97, 98, 99});
  CHECK(*f.calls == 3);
}

TEST_CASE("skipping elements does not call the function for them, across the epochs of a repeat") {
  counting f;
  consumption how;
  how.skip = 7;
  how.elements_max = 1;
  CHECK(consume(range(5) | repeat(2) | map(f), how).elements == int64s{2});
  CHECK(*f.calls == 1);
}

namespace {

int64 numbered(int64 x, element_index i) { return x * 1000 + static_cast<int64>(i); }
int64 drawn(int64 x, random_source& random) { return x * 1000 + static_cast<int64>(random.below(1000)); }
task<int64> drawn_later(int64 x, random_source& random) {
  auto first = static_cast<int64>(random.below(1000));
  co_await sleep_for(std::chrono::microseconds(first % 50));
  auto second = static_cast<int64>(random.below(1000));
  co_return x * 1000 + (first + second) % 1000;
}
int64s numbered_of(const int64s& in) {
  int64s out;
  for (int64 x : in) out.push_back(x * 1000 + static_cast<int64>(out.size()));
  return out;
}
/// The stage of the plan draws from `seed`, in the first epoch.
int64s drawn_of(const int64s& in, std::int64_t seed) {
  int64s out;
  for (int64 x : in) {
    element_place place{out.size(), mix(static_cast<std::uint64_t>(seed))};
    random_source random = place.random(0);
    out.push_back(drawn(x, random));
  }
  return out;
}

}  // namespace

TEST_CASE("a map whose function takes the element's index conforms, computed and awaited, alone and four at once") {
  auto later = [](int64 x, element_index i) -> task<int64> {
    co_await sleep_for(std::chrono::microseconds(i % 3));
    co_return numbered(x, i);
  };
  for (std::int64_t parallelism : {1, 4}) {
    conforms({.stage = [=](const auto& in) { return in | map(numbered, {.parallelism = parallelism}); },
              .expected = numbered_of,
              .before_error = numbered_of});
    conforms({.stage = [=](const auto& in) { return in | map(later, {.parallelism = parallelism}); },
              .expected = numbered_of,
              .before_error = numbered_of});
  }
}

TEST_CASE("a map whose function draws random numbers conforms: each element has its own, after any resume") {
  for (std::int64_t parallelism : {1, 4})
    conforms({.stage = [=](const auto& in) { return in | map(drawn, {.parallelism = parallelism, .seed = 7}); },
              .expected = [](const int64s& in) { return drawn_of(in, 7); },
              .before_error = [](const int64s& in) { return drawn_of(in, 7); }});
}

TEST_CASE("random numbers of a map are the same on any number of calls at once, and others for another seed") {
  auto drawing = [](std::int64_t parallelism, std::int64_t seed) {
    return consume(range(500) | map(drawn_later, {.parallelism = parallelism, .seed = seed}), {}).elements;
  };
  int64s one = drawing(1, 7);
  CHECK(drawing(8, 7) == one);
  CHECK(drawing(8, 8) != one);
  int64s sloppy = consume(range(500) | map(drawn, {.parallelism = 4, .order = order::sloppy, .seed = 7}), {}).elements;
  std::sort(sloppy.begin(), sloppy.end());
  CHECK(sloppy == consume(range(500) | map(drawn, {.seed = 7}), {}).elements);
  consumption by_blocks;
  by_blocks.ask_max = 5;
  CHECK(consume(range(500) | map(drawn, {.seed = 7}), by_blocks).elements ==
        consume(range(500) | map(drawn, {.seed = 7}), {}).elements);
}

TEST_CASE("a map that draws from no seed of its own takes one of the run's, which its checkpoint keeps") {
  auto ds = range(50) | map(drawn);
  consumption how;
  how.save = true;
  consumed whole = consume(ds, how);
  how.seed = 2;  // of the simulation: another seed of the run, were it drawn again
  how.from = whole.places[20];
  consumed rest = consume(ds, how);
  CHECK(rest.elements == without_first(whole.elements, 20));

  auto under = [&ds](std::uint64_t seed) {
    simulation world(1);
    runtime rt(world);
    auto pull = [](stream<int64> s) -> task<int64s> {
      int64s all;
      while (auto x = co_await s.next()) all.push_back(*x);
      co_return all;
    };
    iterate_options o;
    o.seed = seed;
    return sync_wait(rt, pull(ds.iterate(rt, o)));
  };
  CHECK(under(1) == under(1));
  CHECK(under(1) != under(2));
}

TEST_CASE("each epoch draws other numbers, and the index starts again") {
  int64s twice = consume(range(50) | map(drawn, {.seed = 7}) | repeat(2), {}).elements;
  REQUIRE(twice.size() == 100);
  CHECK(int64s(twice.begin(), twice.begin() + 50) != int64s(twice.begin() + 50, twice.end()));
  int64s numbers = consume(range(3) | map(numbered) | repeat(2), {}).elements;
  CHECK(numbers == int64s{0, 1001, 2002, 0, 1001, 2002});
}

TEST_CASE("under error_policy::skip an element keeps its index and its random numbers") {
  auto picky = [](int64 x, random_source& random) {
    if (x % 10 == 3) throw std::runtime_error("three");
    return drawn(x, random);
  };
  for (std::int64_t parallelism : {1, 4}) {
    consumption how;
    how.on_error = error_policy::skip;
    how.save = true;
    auto ds = range(100) | map(picky, {.parallelism = parallelism, .seed = 7});
    consumed got = consume(ds, how);
    int64s all = consume(range(100) | map(drawn, {.seed = 7}), {}).elements;
    std::erase_if(all, [](int64 x) { return x / 1000 % 10 == 3; });
    CHECK(got.elements == all);
    how.from = got.places[31];
    CHECK(consume(ds, how).elements == without_first(all, 31));
  }
}

}  // namespace sluice::lib::map_test
