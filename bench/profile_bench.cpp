// SPDX-License-Identifier: Apache-2.0
// The cost of measuring: runs with statistics against runs without.
#include <cstdint>
#include <string>
#include <vector>

#include "bench/harness.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::bench {
namespace {

constexpr int kPassPairs = 21;  // the differences are about as large as the noise of one pair

workload drained(const std::string& plan, std::uint32_t block, std::int64_t elements) {
  const dataset<std::int64_t> ds(parse_plan(plan));
  return [ds, block, elements] { return drain(ds, block, static_cast<double>(elements)); };
}

comparison with_and_without(const std::string& plan, std::uint32_t block, std::int64_t elements) {
  return compare(drained(plan, block, elements), drained(plan + " | with_options(statistics=false)", block, elements),
                 kPassPairs);
}

void statistics(report& r) {
  r.at_most("statistics: three stages in blocks of 256", "without statistics",
            with_and_without("range(4000000) | filter(it % 3 != 0) | map(it * 2) | skip(5)", 256, 4'000'000).ratio(),
            1.01, "x");
  const comparison one = with_and_without("range(1000000) | map(it * 2)", 1, 1'000'000);
  std::vector<double> more;
  for (std::size_t i = 0; i != one.ours.size(); ++i) more.push_back(one.ours[i] - one.theirs[i]);
  r.at_most("statistics: blocks of one element", "without statistics", samples(std::move(more)), 5,
            "ns more an element");
}
SLUICE_BENCH(statistics);

}  // namespace
}  // namespace sluice::lib::bench
