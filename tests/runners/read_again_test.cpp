// SPDX-License-Identifier: Apache-2.0
// A plan that is written, as text or as JSON, and read again is the same plan, and gives the same elements.
#include <catch2/catch.hpp>

#include <functional>

#include "runners/row_run.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::read_again_test {
namespace {

using namespace test;

std::string difference_when_read_again(runtime& rt, const row& r,
                                       const std::function<node_ptr(const node&)>& read_again) {
  if (r.is_refused()) return difference_of_refusal(r);
  node_ptr plan = plan_of(r), again = read_again(*plan);
  if (!same_plan(*plan, *again) || fingerprint(*plan) != fingerprint(*again))
    return "read again it is another plan: " + plan_text(*again);
  return difference(r, again, [&](const node_ptr& p) { return run_on(rt, p, {.elements_max = most_of(r)}); });
}

}  // namespace

TEST_CASE("rows hold when their plans are printed and parsed") {
  runtime one({.workers = 1});
  every_row([&](const row& r) {
    return difference_when_read_again(one, r, [](const node& plan) { return parse_plan(plan_text(plan)); });
  });
}

TEST_CASE("rows hold when their plans are written as JSON and read again") {
  runtime one({.workers = 1});
  every_row([&](const row& r) {
    return difference_when_read_again(one, r, [](const node& plan) { return parse_plan_json(plan_json(plan)); });
  });
}

}  // namespace sluice::lib::read_again_test
