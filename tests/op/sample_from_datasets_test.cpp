// SPDX-License-Identifier: Apache-2.0
// sluice/op/sample_from_datasets.hpp
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "verbs/sample_from_datasets_model.hpp"

namespace sluice::lib::sample_from_datasets_test {
namespace {

using namespace test;
using namespace sample_from_datasets_case;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("weights that are a function of the step apply to each step, for elements of every kind") {
  conforms_for_elements(
      [](const auto& in) {
        return sample_from_datasets({in | take(9), in, in | skip(3)}, {.weights_at = step_weights(stepped), .seed = 7});
      },
      {.expected = [](const int64s& in) {
        return sampled_by_step({first_of(in, 9), in, without_first(in, 3)}, 7, false);
      }});
}

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

TEST_CASE("weights_at prints as text, and reports the step at which it has no weights") {
  auto two = [](const std::string& weights) {
    return parse_plan("sample_from_datasets([range(50), range(70)], weights_at=" + weights + ", seed=1)");
  };
  round_trips(*two("[1, it]"), "sample_from_datasets([range(50), range(70)], weights_at=[1, it], seed=1)");
  auto why = [&](const std::string& weights, std::size_t given) {
    consumed c = consume(dataset<int64>(two(weights)), {});
    CHECK(c.elements.size() == given);
    return c.why.to_string();
  };
  CHECK_THAT(why("[5 - it, 5 - it]", 5), Catch::Contains("sum must be more than 0"));
  CHECK_THAT(why("[1, 5 - it]", 6), Catch::Contains("weights are finite numbers of at least 0"));
  CHECK_THAT(why("[1, 1, 1]", 0), Catch::Contains("there are 3 for 2"));
  CHECK_THAT(why("[9 / (3 - it), 9]", 3),
             Catch::Contains("division by zero") && Catch::Contains("sample_from_datasets"));
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

TEST_CASE("sample_from_datasets conforms for elements of every kind") {
  for (bool stop : {false, true}) {
    conforms_for_elements(
        [stop](const auto& in) {
          return sample_from_datasets({in | take(9), in, in | skip(3)},
                                      {.weights = {1, 2, 1}, .seed = 7, .stop_on_empty_dataset = stop});
        },
        {.expected = [stop](const int64s& in) {
          return sampled({first_of(in, 9), in, without_first(in, 3)}, {1, 2, 1}, 7, stop);
        }});
  }
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

TEST_CASE("a dataset of weight 0 is never asked, and one that ends leaves its share to the others") {
  auto broken = range(5) | map([](int64) -> int64 { throw_status(data_loss_error("asked")); });
  consumed got = consume(
      sample_from_datasets({range(50), broken, range(60, {.start = 50})}, {.weights = {1, 0, 9}, .seed = 1}), {});
  CHECK(got.why.ok());
  std::sort(got.elements.begin(), got.elements.end());
  CHECK(got.elements == consume(range(60), {}).elements);
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

TEST_CASE("sample_from_datasets knows its size where it can, prints as text, and is read again") {
  auto two = [](sample_from_datasets_options o) { return sample_from_datasets({range(5), range(7)}, std::move(o)); };
  round_trips(*two({.weights = {0.7, 0.3}, .seed = 1}).plan(),
              "sample_from_datasets([range(5), range(7)], weights=[0.7, 0.3], seed=1)");
}

TEST_CASE("invalid weights are refused when the plan is built") {
  const double none = std::numeric_limits<double>::quiet_NaN();  // has no text
  CHECK_THROWS_WITH(sample_from_datasets({range(5), range(7)}, {.weights = {1, none}}),
                    Catch::Contains("weights[1] must be finite"));
  CHECK_THROWS_WITH(sample_from_datasets(std::vector<dataset<int64>>()), Catch::Contains("needs a list of datasets"));
}

}  // namespace sluice::lib::sample_from_datasets_test
