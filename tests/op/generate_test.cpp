// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"
#include "support/trials/resumed_everywhere.hpp"

namespace sluice::lib::generate_test {
namespace {

using namespace test;
using int64 = std::int64_t;

stream<int64> squares(int64 n) {
  for (int64 i = 0; i < n; ++i) co_yield i* i;
}
stream<int64> committing(saved<int64> next, int64 n) {
  while (*next < n) {
    int64 made = *next * *next;
    ++*next;
    co_yield made;
    next.commit();
  }
}
stream<int64> running_dry(int64 n) {
  for (int64 i = 0; i < n; ++i) co_yield i;
  throw std::runtime_error("the well is dry");
}

}  // namespace

TEST_CASE("generated elements continue from every one of them, by replay and by commit") {
  constexpr int64 kElements = 50;
  const dataset<int64> both[] = {generate([] { return squares(kElements); }),
                                 generate([] { return committing(saved<int64>(), kElements); })};
  for (const auto& ds : both) {
    CHECK(consume(ds, {}).elements.size() == kElements);
    for (std::uint32_t ask_max : {0, 1, 7}) resumes_everywhere(ds, consumption{.ask_max = ask_max, .marks_every = 3});
  }
}

TEST_CASE("a generator is called once for each epoch") {
  int calls = 0;
  auto ds = generate([&calls] {
              ++calls;
              return squares(2);
            }) |
            repeat(3);
  CHECK(consume(ds, {}).elements == int64s{0, 1, 0, 1, 0, 1});
  CHECK(calls == 3);
}

TEST_CASE("a function lives as long as the coroutine it made, also in a plan opened for one element") {
  auto each = [](int64 x) {
    auto held = std::make_shared<int64>(x);
    // A capturing coroutine: its frame has only a pointer to the closure (docs/internals/hazards.md).
    return generate([held]() -> stream<int64> {  // dialect: allowed
      std::weak_ptr<int64> seen = held;
      for (int i = 0; i != 3; ++i) co_yield seen.expired() ? -1 : *held;
    });
  };
  for (int64 parallelism : {1, 2}) {
    auto ds = range(3) | interleave(each, {.cycle_length = 1, .parallelism = parallelism});
    CHECK(consume(ds, {}).elements == int64s{0, 0, 0, 1, 1, 1, 2, 2, 2});
  }
}

TEST_CASE("an exception of a generator follows its elements, with its stage") {
  consumed got = consume(generate([] { return running_dry(3); }), {});
  CHECK(got.elements == int64s{0, 1, 2});
  CHECK_THAT(got.why.to_string(), Catch::Contains("the well is dry") && Catch::Contains("generate"));
}

TEST_CASE("a function that throws when it is called, or makes no stream, fails the first request") {
  auto throws = []() -> stream<int64> { throw std::runtime_error("no well here"); };
  auto makes_none = [](stream<int64>) { return stream<int64>(); };
  auto sources = {generate(throws), generate(throws) | repeat(3),
                  range(3) | flat_map([throws](int64) { return generate(throws); })};
  for (const auto& ds : sources) {
    consumed got = consume(ds, {});
    CHECK(got.elements.empty());
    CHECK(got.why.where().stage == "generate");
    CHECK_THAT(got.why.to_string(), Catch::Contains("no well here"));
  }
  consumed got = consume(range(3) | transform(makes_none), {});
  CHECK(got.why.where().stage == "transform");
  CHECK(got.why.code() == status_code::failed_precondition);
}

}  // namespace sluice::lib::generate_test
