// SPDX-License-Identifier: Apache-2.0
// sluice/op/rejection_resample.hpp
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "verbs/rejection_resample_model.hpp"

namespace sluice::lib::rejection_resample_test {
using namespace test;
using namespace rejection_resample_case;
using int64 = std::int64_t;
using doubles = std::vector<double>;

TEST_CASE("rejection_resample conforms for elements of every kind") {
  for (std::uint64_t b : {3, 4}) {
    auto expected = [b](const int64s& in) { return resampled(in, some_target(b), some_initial(b), mix(5)); };
    conforms({.stage = [b](const auto& in) { return in | resample_by(b) | map(number_of_pair); },
              .expected = expected,
              .before_error = expected});
    conforms_over_kinds(
        [b](auto as, const auto& in) {
          using As = decltype(as);
          using T = decltype(As::made(0));
          auto by_class = [](const T& x) { return static_cast<int>(class_of(As::number(x), 3)); };
          return in | map(As::made) |
                 rejection_resample(by_class, some_target(b), {.initial_dist = some_initial(b), .seed = 5}) |
                 map([](const std::pair<int, T>& p) { return number_of(p.first, As::number(p.second)); });
        },
        {.expected = expected});
  }
}

TEST_CASE("the classes occur in the wanted shares, with and without declared shares of the input") {
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

TEST_CASE("the elements that rejection_resample drops depend on its seed, and not on workers") {
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

}  // namespace sluice::lib::rejection_resample_test
