// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "runners/row_run.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::knobs_turned_test {

using namespace test;

TEST_CASE("rows hold while knobs are set to other values before each request") {
  runtime two({.workers = 2});
  every_row([&](const row& r) {
    std::string wrong;
    for (std::uint64_t seed : {r.line * 2 + 1, r.line * 2 + 2}) {
      auto run = [&](const node_ptr& plan) {
        return run_on(two, plan, {.elements_max = most_of(r), .turns_knobs = seed});
      };
      wrong = difference_of(r, run);
      // Most plans have no knob of their own.
      if (wrong.empty() && r.is_of_a_run() && !r.plan.starts_with("{"))
        wrong = complaint(r, run(parse_plan(r.plan + " | prefetch(3) | map(it, parallelism=2)")));
      if (!wrong.empty()) return "seed " + std::to_string(seed) + ": " + wrong;
    }
    return wrong;
  });
}

}  // namespace sluice::lib::knobs_turned_test
