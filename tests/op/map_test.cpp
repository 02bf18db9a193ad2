// SPDX-License-Identifier: Apache-2.0
// sluice/op/map.hpp
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/sleep.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice {
namespace {

using namespace test;
using int64 = std::int64_t;

SLUICE_FUNCTION(thrice_and_one, [](int64 x) { return 3 * x + 1; });

task<int64> later(int64 x) {
  co_await sleep_for(std::chrono::microseconds(x * 7 % 40));
  int64 result = 3 * x + 1;
  co_return result;
}

int64s thrice_and_one_of(const int64s& in) {
  int64s out;
  for (int64 x : in) out.push_back(3 * x + 1);
  return out;
}

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

TEST_CASE("map keeps what an awaited function captured until its last call has ended") {
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

TEST_CASE("map conforms when its function computes") {
  conforms({.stage = [](const auto& in) { return in | map(thrice_and_one); },
            .expected = thrice_and_one_of,
            .before_error = thrice_and_one_of});
}

TEST_CASE("map conforms when its function awaits") {
  conforms({.stage = [](const auto& in) { return in | map(later); },
            .expected = thrice_and_one_of,
            .before_error = thrice_and_one_of});
}

TEST_CASE("map conforms when four calls are in flight") {
  conforms({.stage = [](const auto& in) { return in | map(thrice_and_one, {.parallelism = 4}); },
            .expected = thrice_and_one_of,
            .before_error = thrice_and_one_of});
  conforms({.stage = [](const auto& in) { return in | map(later, {.parallelism = 4}); },
            .expected = thrice_and_one_of,
            .before_error = thrice_and_one_of});
}

TEST_CASE("a sloppy map loses and repeats nothing") {
  conforms({.stage = [](const auto& in) { return in | map(later, {.parallelism = 4, .order = order::sloppy}); },
            .expected = thrice_and_one_of,
            .ordered = false});
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

TEST_CASE("passing over elements does not call the function for them") {
  counting f;
  CHECK(consume(range(100) | map(f) | skip(97), {}).elements == int64s{97, 98, 99});
  CHECK(*f.calls == 3);
}

TEST_CASE("passing over elements does not call the function for them, across the epochs of a repeat") {
  counting f;
  consumption how;
  how.skip = 7;
  how.elements_max = 1;
  CHECK(consume(range(5) | repeat(2) | map(f), how).elements == int64s{2});
  CHECK(*f.calls == 1);
}

TEST_CASE("what a function throws comes after the elements before it, with its stage and name") {
  auto throwing = [](int64 x) {
    if (x == 3) throw std::runtime_error("three");
    return x;
  };
  for (std::int64_t parallelism : {1, 3}) {
    consumed got = consume(range(10) | map(throwing, {.parallelism = parallelism}), {});
    CHECK(got.elements == int64s{0, 1, 2});
    CHECK_THAT(got.why.to_string(), Catch::Contains("three") && Catch::Contains("map"));
  }
}

TEST_CASE("a map whose function has a name prints as text, and is read again") {
  round_trips(*(range(5) | map(thrice_and_one)).plan(), "range(5) | map(thrice_and_one)");
  round_trips(*(range(5) | map(thrice_and_one, {.parallelism = 4, .order = order::sloppy})).plan(),
              "range(5) | map(thrice_and_one, parallelism=4, order=sloppy)");
}

TEST_CASE("an error tells which element of its input failed, however it is computed") {
  auto throws = [](int64 x) {
    if (x == 70) throw std::runtime_error("no seventy");
    return x;
  };
  auto refuses = [throws](int64 x) { return throws(x) >= 0; };
  auto ways = {range(100) | skip(10) | map(throws), range(100) | skip(10) | map(throws, {.parallelism = 3}),
               range(100) | skip(10) | filter(refuses),
               range(100) | skip(10) | flat_map([throws](int64 x) { return range(throws(x)) | take(1); })};
  for (const auto& ds : ways) {
    consumed got = consume(ds, {});
    CHECK(got.why.where().element == 60);
    CHECK_THAT(got.why.to_string(), Catch::Contains(" at element 60: no seventy"));
  }
}

}  // namespace sluice
