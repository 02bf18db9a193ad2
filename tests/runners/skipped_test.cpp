// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>

#include "runners/row_run.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::skipped_test {

using namespace test;

TEST_CASE("rows hold when their first elements are skipped") {
  runtime two({.workers = 2});
  every_row([&](const row& r) -> std::string {
    if (r.what == row_check::dropped || r.what == row_check::other) return {};
    if (!r.is_of_a_run() || r.plan.starts_with("{"))
      return difference_of(r, [](const node_ptr&) { return row_outcome(); });
    for (std::size_t n = 1; n <= std::min<std::size_t>(r.elements.size(), 5); ++n) {
      node_ptr plan = parse_plan(r.plan + " | skip(" + std::to_string(n) + ")");
      std::string wrong = complaint(r, run_on(two, plan, {.elements_max = most_of(r) - n}), n);
      if (!wrong.empty()) return "without the first " + std::to_string(n) + ": " + wrong;
    }
    return {};
  });
}

}  // namespace sluice::lib::skipped_test
