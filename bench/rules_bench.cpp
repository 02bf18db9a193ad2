// SPDX-License-Identifier: Apache-2.0
// Rules of the optimizer: plans as they run against the same plans as written.
#include <string>

#include "bench/harness.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr std::uint32_t kBlock = 256;

workload drained(const std::string& plan, std::int64_t elements) {
  const dataset<std::int64_t> ds(parse_plan(plan));
  return [ds, elements] { return drain(ds, kBlock, static_cast<double>(elements)); };
}

/// Returns how many times faster a plan of int64 runs with its rules.
samples gain(const std::string& plan, std::int64_t elements) {
  return compare(drained(plan, elements), drained(plan + " | with_options(optimize=false)", elements)).speedup();
}

void filter_early(report& r) {
  r.at_least("filter_early: a filter that keeps 1 % after a map of three functions", "as written",
             gain("range(300000) | map({a: it, b: double(it)}) | map({a, c: exp(-b) * sin(b) + log1p(b)}) | "
                  "filter(a % 100 == 0) | map(a + int(c > 0.0))",
                  300'000),
             3, "x");
}
SLUICE_BENCH(filter_early);

void push_shard(report& r) {
  r.at_least("push_shard: one of 16 shards after a map", "as written",
             gain("range(2000000) | map({a: it, b: double(it)}) | shard(16, 3) | map(a)", 2'000'000), 4, "x");
}
SLUICE_BENCH(push_shard);

void shrink_before_buffers(report& r) {
  r.at_least(
      "shrink_before_buffers: 8 of 136 bytes after a shuffle of 100,000", "as written",
      gain("range(1000000) | map({a: it, b: double(it), c: (it, it, it, it, it, it, it, it), d: (it, it, it, it, "
           "it, it, it)}) | shuffle(100000, seed=1) | map(a)",
           1'000'000),
      1.3, "x");
}
SLUICE_BENCH(shrink_before_buffers);

}  // namespace
}  // namespace sluice::lib::bench
