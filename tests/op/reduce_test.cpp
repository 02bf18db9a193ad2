// SPDX-License-Identifier: Apache-2.0
// sluice/op/reduce.hpp
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"

namespace sluice::lib::reduce_test {
namespace {

using namespace test;
using Catch::Contains;
using int64 = std::int64_t;

struct mean {
  int64 sum = 0;
  int64 count = 0;
};
SLUICE_FUNCTION(reduce_sum, [](int64& sum, const int64& x) { sum += x; });
SLUICE_FUNCTION(reduce_mean, [](mean& m, int64 x) {
  m.sum += x;
  ++m.count;
});
SLUICE_FUNCTION_VERSION(reduce_quotient, 2, [](const mean& m) { return m.count ? m.sum / m.count : -1; });

int64s sum_of(const int64s& in) {
  int64 sum = 0;
  for (int64 x : in) sum += x;
  return {sum};
}

}  // namespace

TEST_CASE("reduce conforms") {
  auto all = [](const int64s& in, std::size_t) { return in.size(); };
  auto nothing = [](const int64s&) { return int64s(); };
  conforms({.stage = [](const auto& in) { return in | reduce(reduce_sum); },
            .expected = sum_of,
            .before_error = nothing,
            .needs = all});
  conforms(
      {.stage = [](const auto& in) { return in | reduce(mean{}, reduce_mean, reduce_quotient) | prefetch(2); },
       .expected =
           [](const int64s& in) { return int64s{in.empty() ? -1 : sum_of(in)[0] / static_cast<int64>(in.size())}; },
       .before_error = nothing});
}

TEST_CASE("reduce takes elements of every kind, each once") {
  conforms_over_kinds(
      [](auto as, const auto& in) {
        using T = decltype(as.made(0));
        return in | map(as.made) | reduce(int64{0}, [](int64& sum, T x) { sum += decltype(as)::number(x); });
      },
      {.expected = sum_of});
}

TEST_CASE("reduce hands on a state of any kind as its element") {
  auto texts = range(12) | reduce([](std::vector<std::string>& all, int64 x) { all.push_back(std::to_string(x)); }) |
               map([](const std::vector<std::string>& all) {
                 return static_cast<int64>(all.size() * 100 + std::stoul(all[11]));
               });
  CHECK(consume(texts, {}).elements == int64s{1211});
  CHECK(consume(range(0) | reduce(7, reduce_sum), {}).elements == int64s{7});
  CHECK(consume(range(5) | reduce(7, reduce_sum), {}).elements == int64s{17});
  CHECK(consume(range(5) | reduce(int64{1}, [](auto& p, int64 x) { p *= x + 1; }), {}).elements == int64s{120});
}

TEST_CASE("skipping the result of a reduce reads nothing") {
  auto calls = std::make_shared<int>(0);
  auto counted_sum = [calls](int64& sum, int64 x) {
    ++*calls;
    sum += x;
  };
  auto ds = range(50) | reduce(counted_sum);
  CHECK(consume(ds | skip(1), {}).elements.empty());
  CHECK(*calls == 0);
  CHECK(consume(ds | repeat(3) | skip(2), {}).elements == int64s{1225});
  CHECK(*calls == 50);
}

TEST_CASE("a reduce of two functions prints as text and JSON, and is read again") {
  round_trips(*(range(5) | reduce(reduce_sum)).plan(), "range(5) | reduce(reduce_sum)");
  auto both = range(5) | reduce(mean{}, reduce_mean, reduce_quotient);
  round_trips(*both.plan(), "range(5) | reduce(reduce_mean, finish=reduce_quotient)");
  CHECK(consume(dataset<int64>(parse_plan(plan_text(*both.plan()))), {}).elements == int64s{2});
  auto without_first = range(5) | reduce(reduce_mean, reduce_quotient);
  CHECK(same_plan(*without_first.plan(), *both.plan()));
  auto finish = [](const mean& m) -> result<int64> { return m.sum * 10 + m.count; };
  CHECK(consume(range(5) | reduce([](mean& m, int64 x) { reduce_mean(m, x); }, finish), {}).elements == int64s{105});
  CHECK(consume(range(5) | reduce([](std::string& all, int64 x) { all += std::to_string(x); }, &std::string::size) |
                    map([](std::size_t n) { return static_cast<int64>(n); }),
                {})
            .elements == int64s{5});
  auto begun = range(5) | reduce(mean{90, 4}, reduce_mean, reduce_quotient);
  round_trips(*begun.plan(), "range(5) | reduce(reduce_mean, finish=reduce_quotient, initial_state=\"00b40108\")");
  CHECK(consume(dataset<int64>(parse_plan_json(plan_json(*begun.plan()))), {}).elements == int64s{100 / 9});
  CHECK(cardinality_of(*both.plan()) == cardinality::of(1));
}

TEST_CASE("a checkpoint detects another version of a reduce's second function") {
  auto ds = [](int version) {
    return range(5) | reduce(mean{}, reduce_mean, fn("quotient", version, reduce_quotient.function)) | repeat(2);
  };
  consumption how;
  how.save = true;
  how.from = consume(ds(1), how).places[1];
  CHECK(consume(ds(1), how).elements == int64s{2});
  CHECK_THAT(consume(ds(2), how).mistake, Contains("function `quotient` has version 1 there, 2 here"));
}

}  // namespace sluice::lib::reduce_test
