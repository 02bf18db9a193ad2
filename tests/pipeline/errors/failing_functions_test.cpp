// SPDX-License-Identifier: Apache-2.0
// User functions that fail: what is told, and what is given before.
#include <string>

#include <catch2/catch.hpp>

#include "pipeline/failing_functions.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/outcome.hpp"
#include "pipeline/record_files.hpp"

namespace sluice::lib::failing_functions_test {
namespace {

using namespace testing;
using Catch::Contains;

template <class T> void check_seven_elements(const dataset<T>& ds, const std::string& stage, const std::string& words) {
  file_world w;
  outcome got = run(w.rt, ds);
  CAPTURE(stage, got.message());
  CHECK(got.elements == numbers(0, 7));
  CHECK(got.why.code() == status_code::unknown);
  CHECK(got.why.where().stage == stage);
  CHECK_THAT(got.message(), Contains(words));
}

}  // namespace

TEST_CASE("a function that throws ends the stream after the elements before, with stage and message") {
  const std::string words = "seven does not please me";
  check_seven_elements(range(20) | map(throws), "map", words);
  check_seven_elements(range(20) | map(throws, {.parallelism = 4}), "map", words);
  check_seven_elements(range(20) | map(fails_later), "map", words);
  check_seven_elements(range(20) | map(fails_later, {.parallelism = 4}), "map", words);
  check_seven_elements(range(20) | filter(throws_as_predicate), "filter", words);
  check_seven_elements(range(20) | transform(throws_as_stage), "transform", words);
  check_seven_elements(generate(throws_as_source), "generate", words);
  check_seven_elements(range(20) | flat_map(opens_or_throws), "flat_map", words);
  check_seven_elements(range(20) | interleave(opens_or_throws, {.cycle_length = 1}), "interleave", words);
  check_seven_elements(range(20) | interleave(opens_or_throws, {.cycle_length = 1, .parallelism = 2}), "interleave",
                       words);
}

TEST_CASE("a thrown object that is no exception is reported as unknown") {
  check_seven_elements(range(20) | map(throws_a_number), "map", "");
  check_seven_elements(range(20) | map(throws_a_number, {.parallelism = 3}), "map", "");
}

TEST_CASE("an error that a function returns keeps its code and words") {
  for (std::int64_t parallelism : {1, 4}) {
    file_world w;
    outcome got = run(w.rt, range(20) | map(returns_an_error, {.parallelism = parallelism}));
    CAPTURE(got.message());
    CHECK(got.elements == numbers(0, 7));
    CHECK(got.why.code() == status_code::out_of_range);
    CHECK(got.why.where().stage == "map");
    CHECK_THAT(got.message(), Contains("seven is out of range"));
  }
}

TEST_CASE("an exception of the user's own reaches next() with its cause") {
  file_world w;
  outcome got = run(w.rt, failing_numbers());
  REQUIRE(got.why.cause());
  CHECK_THROWS_AS(std::rethrow_exception(got.why.cause()), std::runtime_error);
}

TEST_CASE("an error comes through every stage after the elements before it") {
  check_seven_elements(failing_numbers() | map([](std::int64_t x) { return x; }), "map", "seven");
  check_seven_elements(failing_numbers() | map([](std::int64_t x) { return x; }, {.parallelism = 3}), "map", "seven");
  check_seven_elements(failing_numbers() | map([](std::int64_t x) { return std::to_string(x); }), "map", "seven");
  check_seven_elements(failing_numbers() | filter([](std::int64_t) { return true; }), "map", "seven");
  check_seven_elements(failing_numbers() | take(100), "map", "seven");
  check_seven_elements(failing_numbers() | skip(0), "map", "seven");
  check_seven_elements(failing_numbers() | repeat(2), "map", "seven");
  check_seven_elements(failing_numbers() | prefetch(1), "map", "seven");
  check_seven_elements(failing_numbers() | prefetch(50), "map", "seven");
  check_seven_elements(failing_numbers() | transform(passes_on), "map", "seven");
  check_seven_elements(failing_numbers() | flat_map(one), "map", "seven");
  check_seven_elements(failing_numbers() | interleave(one, {.cycle_length = 1}), "map", "seven");
  check_seven_elements(failing_numbers() | interleave(one, {.cycle_length = 1, .parallelism = 2}), "map", "seven");
  check_seven_elements(range(1) | flat_map([](std::int64_t) { return failing_numbers(); }), "map", "seven");
  check_seven_elements(range(1) | interleave([](std::int64_t) { return failing_numbers(); }, {.parallelism = 2}), "map",
                       "seven");
  check_seven_elements(failing_numbers() | batch(1) | unbatch(), "map", "seven");
}

TEST_CASE("an error follows the full batches, and the elements that a shuffle delivered before it") {
  file_world w;
  outcome batches = run(w.rt, failing_numbers() | batch(3));
  CHECK(batches.elements == texts{"[0 1 2]", "[3 4 5]"});
  CHECK(batches.why.code() == status_code::unknown);
  outcome shuffled = run(w.rt, failing_numbers() | shuffle(3, {.seed = 1}));
  CHECK(shuffled.elements.size() == 4);  // 3 of the 7 are in the buffer
  CHECK(shuffled.why.code() == status_code::unknown);
}

TEST_CASE("a stream that failed stays failed") {
  file_world w;
  auto twice = [](runtime& rt, status& first, status& second) -> task<void> {
    auto s = failing_numbers().iterate(rt);
    for (;;) {
      auto x = co_await s.try_next();
      first = x.why;
      if (!x) break;
    }
    auto again = co_await s.try_next();
    second = again.why;
    auto end = cleanup(std::move(s));
    co_await end;
  };
  status first, second;
  sync_wait(w.rt, twice(w.rt, first, second));
  CHECK(first.code() == status_code::unknown);
  CHECK(second.to_string() == first.to_string());
}

}  // namespace sluice::lib::failing_functions_test
