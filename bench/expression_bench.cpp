// SPDX-License-Identifier: Apache-2.0
// Expressions against the same chain of lambdas.
#include <array>
#include <string>

#include "bench/harness.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::int64_t kElements = 2'000'000;
constexpr std::uint32_t kBlock = 256;

workload drained(const dataset<std::int64_t>& plan, std::int64_t elements) {
  return [plan, elements] { return drain(plan, kBlock, static_cast<double>(elements)); };
}

void expressions(report& r) {
  auto lambdas = range(kElements) | filter([](std::int64_t x) { return x % 2 == 0; }) |
                 map([](std::int64_t x) { return x * x + 1; });
  auto texts = range(kElements) | filter(expr("it % 2 == 0")) | map(expr<std::int64_t>("it * it + 1"));
  r.at_most("range | filter | map by expressions", "by lambdas",
            compare(drained(texts, kElements), drained(lambdas, kElements)).ratio(), 2, "x");
}
SLUICE_BENCH(expressions);

struct ten_fields {
  std::int64_t a = 0, b = 0, c = 0;
  std::string text = "a text of which nobody reads a byte";
  std::array<double, 16> d{};
  std::string e = "nor of this one, which is longer than what stands in a string's own bytes", f, g;
  std::int64_t h = 0, i = 0;
};

void three_of_ten_fields(report& r) {
  constexpr std::int64_t kRows = 200'000;
  auto rows = range(kRows) | map([](std::int64_t x) {
                ten_fields t;
                t.a = x, t.b = x % 7, t.c = x % 3;
                return t;
              });
  auto lambda = rows | map([](const ten_fields& t) { return t.c == 0 ? t.a + t.b : t.a - t.b; });
  auto text = rows | map(expr<std::int64_t>("if(c == 0, a + b, a - b)"));
  r.at_most("three of ten fields by an expression", "by a lambda, rows included",
            compare(drained(text, kRows), drained(lambda, kRows)).ratio(), 2, "x");
}
SLUICE_BENCH(three_of_ten_fields);

}  // namespace
}  // namespace sluice::lib::bench
