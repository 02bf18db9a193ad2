// SPDX-License-Identifier: Apache-2.0
// sluice/op/rejection_resample.hpp
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::rejection_resample_test {
namespace {

using namespace test;
using int64 = std::int64_t;
using doubles = std::vector<double>;

int64 class_of(int64 x, std::size_t classes) {
  return static_cast<int64>(mix(static_cast<std::uint64_t>(x)) % classes);
}

/// By a plain loop. `initial` empty: as it comes.
int64s resampled(const int64s& in, const doubles& target, const doubles& initial, std::uint64_t seed) {
  int64s out;
  doubles seen(target.size(), 10);
  for (std::size_t k = 0; k != in.size(); ++k) {
    const auto c = static_cast<std::size_t>(class_of(in[k], target.size()));
    ++seen[c];
    const doubles& p = initial.empty() ? seen : initial;
    double best = 0;
    for (std::size_t i = 0; i != p.size(); ++i) best = std::max(best, target[i] == 0 ? 0 : target[i] / p[i]);
    const double likely = target[c] == 0 ? 0 : target[c] / p[c] / best;
    if (random_source(derive(seed, k)).uniform() < likely) out.push_back(number_of(static_cast<int64>(c), in[k]));
  }
  return out;
}

doubles some_target(std::uint64_t b) { return {static_cast<double>(b % 3), 1, static_cast<double>(b % 5) / 2}; }
doubles some_initial(std::uint64_t b) { return b % 2 ? doubles{} : doubles{1, 1.0 + static_cast<double>(b % 7), 2}; }

auto resample_by(std::uint64_t b) {
  return rejection_resample([](int64 x) { return class_of(x, 3); }, some_target(b),
                            {.initial_dist = some_initial(b), .seed = 5});
}

const register_verb resample_case(
    "rejection_resample",
    {.passes_errors = true,
     .build = [](const verb_plan& p) { return p.in[0] | resample_by(p.b) | map(number_of_pair); },
     .expected =
         [](const verb_lists& l) { return resampled(l.in(), some_target(l.b), some_initial(l.b), l.drawn_by(5)); },
     .resume = {.b = 12, .takes = 4}});
const register_verb resample_failing_case("rejection_resample failing",
                                          {.meets_errors = true,
                                           .build =
                                               [](const verb_plan& p) {
                                                 // Some calls fail, and some elements are of no class.
                                                 auto some_fail = [b = p.b](int64 x) -> result<int64> {
                                                   if (!is_bad(x, b)) return int64{0};
                                                   if (x % 2) return int64{1};
                                                   return data_loss_error("a bad element");
                                                 };
                                                 return p.in[0] |
                                                        rejection_resample(some_fail, {1}, {.initial_dist = {1}}) |
                                                        map(number_of_pair);
                                               },
                                           .expected =
                                               [](const verb_lists& l) {
                                                 int64s out;
                                                 for (int64 x : l.in())
                                                   if (!is_bad(x, l.b)) out.push_back(number_of(0, x));
                                                 return out;
                                               }});

}  // namespace

TEST_CASE("rejection_resample conforms for elements of every kind") {
  for (std::uint64_t b : {3, 4}) {
    auto expected = [b](const int64s& in) { return resampled(in, some_target(b), some_initial(b), mix(5)); };
    conforms({.stage = [b](const auto& in) { return in | resample_by(b) | map(number_of_pair); },
              .expected = expected,
              .before_error = expected});
    auto over = [&](auto as) {
      using As = decltype(as);
      using T = decltype(As::made(0));
      return conformance{
          .stage =
              [b](const auto& in) {
                return in | map(As::made) |
                       rejection_resample([](const T& x) { return static_cast<int>(class_of(As::number(x), 3)); },
                                          some_target(b), {.initial_dist = some_initial(b), .seed = 5}) |
                       map([](const std::pair<int, T>& p) { return number_of(p.first, As::number(p.second)); });
              },
          .expected = expected,
          .elements = As::kName};
    };
    conforms(over(as_text()));
    conforms(over(as_record()));
    conforms(over(as_move_only()));
    conforms(over(as_counting()));
  }
}

TEST_CASE("the classes come as often as is wanted, whether it is said how often they come or not") {
  constexpr int64 kElements = 200'000;
  auto nine_to_one = [](int64 x) { return class_of(x, 10) == 0 ? 1 : 0; };
  for (const doubles& initial : {doubles{0.9, 0.1}, doubles{}}) {
    for (double wanted : {0.5, 0.25, 0.99}) {
      auto ds = range(kElements) |
                rejection_resample(nine_to_one, {1 - wanted, wanted}, {.initial_dist = initial, .seed = 1}) |
                map([](const std::pair<int, int64>& p) { return int64{p.first}; });
      int64s got = consume(ds, {}).elements;
      const auto n = static_cast<double>(got.size());
      const auto ones = static_cast<double>(std::count(got.begin(), got.end(), 1));
      CHECK(std::abs(ones - n * wanted) < 4 * std::sqrt(n * wanted * (1 - wanted)) + 0.01 * n);
      // No more is left out than has to be: all of the class that there is too little of stay.
      const auto there = static_cast<double>(kElements) / 10;
      CHECK(ones > 0.97 * there);
      CHECK(ones < 1.03 * there);
    }
  }
}

TEST_CASE("what rejection_resample leaves out depends on its seed, and not on workers") {
  auto ds = range(3000) | prefetch(4) | resample_by(3) | map(number_of_pair);
  int64s first;
  for (unsigned workers : {1u, 2u, 8u}) {
    runtime rt({.workers = workers});
    int64s got = consume_on(rt, ds, {}).elements;
    if (first.empty()) first = got;
    CHECK(got == first);
  }
  CHECK(first.size() > 100);
  CHECK(consume(range(3000) | rejection_resample([](int64 x) { return class_of(x, 3); }, some_target(3), {.seed = 6}) |
                    map(number_of_pair),
                {})
            .elements != first);
}

TEST_CASE("rejection_resample says which element is of no class") {
  const doubles alike(7, 1);
  auto ds = range(10) | rejection_resample([](int64 x) { return x - 3; }, alike, {.initial_dist = alike}) |
            map(number_of_pair);
  consumed c = consume(ds, {});
  CHECK_THAT(c.why.to_string(), Catch::Contains("its class is -3, and target_dist has the classes 0 to 6"));
  CHECK(consume(ds, {.on_error = error_policy::skip}).elements.size() == 7);
}

TEST_CASE("rejection_resample knows its size where nothing is left out, prints as text, and is read again") {
  auto of = [](doubles target, doubles initial) {
    return range(10) |
           rejection_resample(expr<int64>("it % 2"), std::move(target), {.initial_dist = std::move(initial)});
  };
  CHECK(cardinality_of(*of({0.5, 0.5}, {1, 1}).plan()) == cardinality::of(10));
  CHECK(cardinality_of(*of({0.5, 0.5}, {2, 1}).plan()) == cardinality());
  CHECK(cardinality_of(*of({0.5, 0.5}, {}).plan()) == cardinality());
  round_trips(*of({0.5, 0.25}, {}).plan(), "range(10) | rejection_resample(it % 2, [0.5, 0.25])");
  round_trips(
      *(range(10) | rejection_resample(expr<int64>("it % 2"), {1.5, 0}, {.initial_dist = {3, 1.5}, .seed = 3})).plan(),
      "range(10) | rejection_resample(it % 2, [1.5, 0], initial_dist=[3, 1.5], seed=3)");
}

TEST_CASE("distributions that are none are refused when the plan is made") {
  auto of = [](doubles target, doubles initial) {
    return range(10) |
           rejection_resample(expr<int64>("it % 2"), std::move(target), {.initial_dist = std::move(initial)});
  };
  CHECK_THROWS_WITH(of({}, {}), Catch::Contains("target_dist needs a class"));
  CHECK_THROWS_WITH(of({0, 0}, {}), Catch::Contains("target_dist needs a class"));
  CHECK_THROWS_WITH(of({1, -1}, {}), Catch::Contains("target_dist has a finite number of at least 0"));
  CHECK_THROWS_WITH(of({1, 1}, {1}), Catch::Contains("have 1 and 2"));
  CHECK_THROWS_WITH(of({1, 1}, {1, 0}),
                    Catch::Contains("class 1 is wanted, and initial_dist says that it never comes"));
  CHECK_NOTHROW(of({1, 0}, {1, 0}));
}

}  // namespace sluice::lib::rejection_resample_test
