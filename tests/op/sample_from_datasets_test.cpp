// SPDX-License-Identifier: Apache-2.0
// sluice/op/sample_from_datasets.hpp
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "verbs/sample_from_datasets_model.hpp"

namespace sluice::lib::sample_from_datasets_test {
using namespace test;
using namespace sample_from_datasets_case;
using int64 = std::int64_t;

TEST_CASE("the shares of a curriculum follow its step") {
  auto ones = counter({.start = 1, .step = 0}), zeros = counter({.start = 0, .step = 0});
  auto ds = sample_from_datasets({ones, zeros}, {.weights_at = step_weights(expr("[it, 10000 - it]")), .seed = 3}) |
            take(10'000);
  int64s got = consume(ds, {}).elements;
  auto share = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
    return static_cast<double>(std::count(got.begin() + from, got.begin() + to, 1)) / static_cast<double>(to - from);
  };
  CHECK(std::abs(share(0, 2000) - 0.1) < 0.03);
  CHECK(std::abs(share(4000, 6000) - 0.5) < 0.05);
  CHECK(std::abs(share(8000, 10'000) - 0.9) < 0.03);
}

TEST_CASE("weights_at that never gives weights ends the run, also where bad steps are dropped") {
  auto dropping = [](const std::string& weights) {
    consumption how;
    how.on_error = error_policy::skip;
    return consume(dataset<int64>(parse_plan("sample_from_datasets([counter() | take(9), counter()], weights_at=" +
                                             weights + ", seed=1) | take(20)")),
                   how);
  };
  consumed never = dropping("[0.0 - 1.0, 1.0]");
  CHECK(never.elements.empty());
  CHECK(never.why.code() == status_code::failed_precondition);
  CHECK_THAT(never.why.to_string(), Catch::Contains("no dataset was chosen at 10000 steps in a row") &&
                                        Catch::Contains("weights are finite numbers of at least 0"));
  // From some step on: what was made before is there.
  CHECK(dropping("[double(4 - it), 1.0]").elements.size() == 5);
  // As long as some step has weights the run goes on.
  CHECK(dropping("[double(it % 9000) - 8998.0, 1.0]").elements.size() == 20);
}

TEST_CASE("the shares of sample_from_datasets are its weights") {
  for (auto [a, b] : {std::pair(0.7, 0.3), std::pair(1.0, 1.0), std::pair(5.0, 45.0), std::pair(1e-3, 1.0)}) {
    constexpr double kDraws = 100'000;
    auto ones = counter({.start = 1, .step = 0}), zeros = counter({.start = 0, .step = 0});
    auto ds = sample_from_datasets({ones, zeros}, {.weights = {a, b}, .seed = 3}) | take(static_cast<int64>(kDraws));
    int64s got = consume(ds, {}).elements;
    const double expected = kDraws * a / (a + b), spread = std::sqrt(expected * b / (a + b));
    CHECK(std::abs(static_cast<double>(std::count(got.begin(), got.end(), 1)) - expected) < 4 * spread);
  }
}

TEST_CASE("the order of sample_from_datasets is that of its seed on any number of workers") {
  auto ds = sample_from_datasets(
      {range(1000) | map([](int64 x) { return x; }, {.parallelism = 4}), range(2000) | prefetch(4)}, {.seed = 9});
  int64s first;
  for (unsigned workers : {1u, 2u, 8u}) {
    runtime rt({.workers = workers});
    int64s got = consume_on(rt, ds, {}).elements;
    CHECK(got.size() == 3000);
    if (first.empty()) first = got;
    CHECK(got == first);
  }
}

TEST_CASE("invalid weights are refused when the plan is built") {
  const double none = std::numeric_limits<double>::quiet_NaN();  // has no text
  CHECK_THROWS_WITH(sample_from_datasets({range(5), range(7)}, {.weights = {1, none}}),
                    Catch::Contains("weights[1] must be finite"));
  CHECK_THROWS_WITH(sample_from_datasets(std::vector<dataset<int64>>()), Catch::Contains("needs a list of datasets"));
}

}  // namespace sluice::lib::sample_from_datasets_test
