// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include "runners/row_run.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::budget_test {
namespace {

using namespace test;

std::string difference_on(runtime& rt, const row& r) {
  std::string wrong =
      difference(r, plan_of(r), [&](const node_ptr& plan) { return run_on(rt, plan, {.elements_max = most_of(r)}); });
  const std::size_t left = charged_to_runs(rt);
  return !wrong.empty() || left == 0 ? wrong : std::to_string(left) + " bytes are still charged after the run";
}

}  // namespace

TEST_CASE("rows hold within their memory budgets, in a simulation and on two workers") {
  every_row_with_a_budget([](const row& r) -> std::string {
    simulation world(r.line);
    runtime simulated(world, {.workers = 2, .memory_budget_bytes = r.budget_bytes});
    if (std::string wrong = difference_on(simulated, r); !wrong.empty()) return wrong;
    runtime two({.workers = 2, .memory_budget_bytes = r.budget_bytes});
    return difference_on(two, r);
  });
}

}  // namespace sluice::lib::budget_test
