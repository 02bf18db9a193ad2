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

/// The speed of a plan with the rule fuse_expressions, compared with the same plan as written.
samples speedup_of_fusing(const std::string& plan, std::uint32_t block, std::int64_t elements) {
  auto drained_by = [&](const std::string& text) -> workload {
    return [d = dataset<std::int64_t>(parse_plan("range(" + std::to_string(elements) + ") | " + text)), block,
            elements] { return drain(d, block, static_cast<double>(elements)); };
  };
  return compare(drained_by(plan), drained_by(plan + " | with_options(optimize=false)")).speedup();
}

void fused_expressions(report& r) {
  const std::string records =
      "map({id: it, price: it * 3, count: it + 7}) | map({id, total: price + count, old: id < 100}) | "
      "filter(total > 1000 && !old) | map(total + id)";
  const std::string numbers = "map(it * 3 + 1) | map(it + 7) | filter(it > 1000) | map(it * 2)";
  const std::string of_records = "map|map|filter|map by expressions, records";
  const std::string of_numbers = "map|map|filter|map by expressions, numbers";
  const char *blocks = "separate stages, blocks of 256", *ones = "separate stages, blocks of one";
  r.at_least(of_records, blocks, speedup_of_fusing(records, kBlock, kElements), 2, "times faster");
  r.at_least(of_records, ones, speedup_of_fusing(records, 1, kElements / 10), 3, "times faster");
  // Separate stages of numbers already pass arrays, and most of their time is arithmetic.
  r.at_least(of_numbers, blocks, speedup_of_fusing(numbers, kBlock, kElements), 1, "times faster");
  r.at_least(of_numbers, ones, speedup_of_fusing(numbers, 1, kElements / 10), 1.3, "times faster");
}
SLUICE_BENCH(fused_expressions);

}  // namespace
}  // namespace sluice::lib::bench
