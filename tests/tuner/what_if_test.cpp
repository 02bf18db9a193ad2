// SPDX-License-Identifier: Apache-2.0
// What-if, verified by making the change: each scenario of bench/tuner runs again with the stage twice as fast, or with one
// more core, and the gain is compared with what the tuner has said. Virtual time. SLUICE_TEST_LOUD=1 prints each row.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <catch2/catch.hpp>

#include "support/sanitizers.hpp"
#include "tuner/scenario.hpp"

namespace sluice::lib::what_if_test {
namespace {

using namespace test;

/// The rate of the run with this change really made.
double rate_after(scenario s, unsigned cores, std::size_t stage) {
  if (stage == scenario_outcome::kCore) return run_tuned(s, cores + 1).rate;
  s.stages.at(stage).time /= 2;
  return run_tuned(s, cores).rate;
}

struct made_change {
  double error = 0;  ///< in shares of the present rate
  bool gains = false;
};

void make_changes(const scenario& s, unsigned cores, std::vector<made_change>& all) {
  const scenario_outcome now = run_tuned(s, cores);
  for (const scenario_outcome::gain& g : now.gains) {
    REQUIRE(g.stage != scenario_outcome::kSource);  // it takes no time
    const double made = rate_after(s, cores, g.stage) / now.rate - 1;
    all.push_back({std::abs(made - g.expected), std::max(made, g.expected) >= 0.05});
    if (std::getenv("SLUICE_TEST_LOUD"))
      std::printf("%-26s %2u cores  %-24s expected %+6.1f %%, made %+6.1f %%, error %5.1f points\n", s.name.c_str(),
                  cores, g.change.c_str(), 100 * g.expected, 100 * made, 100 * all.back().error);
  }
}

struct errors_of {
  explicit errors_of(std::vector<double> all) : count(all.size()) {
    REQUIRE(count > 0);
    std::sort(all.begin(), all.end());
    median = all[count / 2];
    high = all[count * 9 / 10];
    most = all.back();
    if (std::getenv("SLUICE_TEST_LOUD"))
      std::printf("%zu changes: median error %.1f points, 90th percentile %.1f, most %.1f\n", count, 100 * median,
                  100 * high, 100 * most);
  }
  std::size_t count;
  double median = 0, high = 0, most = 0;
};

void check(const std::vector<unsigned>& cores, std::size_t changes, std::size_t gaining) {
  std::vector<made_change> all;
  for (const scenario& s : all_scenarios()) {
    const bool has_rate = s.reaches > 0;  // that of tiny elements, which come in blocks, is none
    for (unsigned n : cores)
      if (has_rate) make_changes(s, n, all);
  }
  std::vector<double> any, gains;
  for (const made_change& c : all) {
    any.push_back(c.error);
    if (c.gains) gains.push_back(c.error);
  }
  const errors_of of_all(any), of_gains(gains);
  CHECK(of_all.count >= changes);
  CHECK(of_all.median <= 0.01);
  CHECK(of_all.high <= 0.1);
  CHECK(of_all.most <= 0.25);
  // Most changes gain nothing, which is easily said; these do.
  CHECK(of_gains.count >= gaining);
  CHECK(of_gains.median <= 0.1);
  CHECK(of_gains.high <= 0.25);
}

}  // namespace

// Runs some 200 simulations: eighteen seconds. Sanitizers would need minutes, and scenarios_test.cpp runs the same code there.
#ifndef SLUICE_TEST_SANITIZED
TEST_CASE("what-if: what a change would gain is what it gains when it is made") { check({2}, 40, 10); }
#endif

TEST_CASE("what-if: the same on one core, on eight, and on 64", "[.scenarios]") {
  for (unsigned cores : {1u, 8u, 64u}) check({cores}, 40, 10);
}

}  // namespace sluice::lib::what_if_test
