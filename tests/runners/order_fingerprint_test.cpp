// SPDX-License-Identifier: Apache-2.0
// The order fingerprint of a row is the same in every way to run it, and another one for other elements.
#include <catch2/catch.hpp>

#include <map>

#include "pipeline/order/delivered_order.hpp"
#include "runners/row_run.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::order_fingerprint_rows_test {
namespace {

using namespace test;

std::string difference_from(const row_outcome& o, const order_fingerprint& expected, const std::string& how) {
  if (o.order == expected) return {};
  return how + ": " + text_of_order(o.order) + " where " + text_of_order(expected) + " is expected";
}

/// Resumes from some of the positions. Each must end with the fingerprint of the whole run.
std::string difference_resumed(runtime& rt, const row& r, const node_ptr& plan, const order_fingerprint& expected) {
  for (const std::uint32_t at_once : {1u, 5u}) {
    row_outcome whole =
        run_on(rt, plan, {.elements_max = most_of(r), .save = true, .at_once = at_once, .order_fingerprint = true});
    if (std::string wrong = difference_from(whole, expected, "saved"); !wrong.empty()) return wrong;
    for (std::size_t i = 0; i < whole.places.size(); i += 1 + i / 4) {
      const std::size_t delivered = whole.delivered_before[i];
      // Each second one without the option: the checkpoint has a fingerprint, which the run continues.
      row_outcome rest = run_on(rt, plan,
                                {.elements_max = most_of(r) - delivered,
                                 .from = whole.places[i],
                                 .order_fingerprint = i % 2 ? run_switch(true) : run_switch()});
      std::string wrong = complaint(r, rest, delivered);
      if (wrong.empty()) wrong = difference_from(rest, expected, "resumed at element " + std::to_string(delivered));
      if (!wrong.empty()) return wrong;
      // A run that does not count continues from the same place.
      row_outcome off = run_on(
          rt, plan, {.elements_max = most_of(r) - delivered, .from = whole.places[i], .order_fingerprint = false});
      wrong = complaint(r, off, delivered);
      if (!wrong.empty()) return "resumed without a fingerprint: " + wrong;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("rows have one order fingerprint in every way to run them, and other elements have another one") {
  runtime one({.workers = 1}), two({.workers = 2});
  std::map<std::string, std::uint64_t> ordered;  // by type and elements
  std::size_t compared = 0;
  every_row([&](const row& r) -> std::string {
    if (!r.is_of_a_run()) return {};
    const node_ptr plan = plan_of(r);
    if (!can_count_order(*plan->type)) return {};
    const std::size_t most = most_of(r);
    row_outcome written =
        run_on(one, plan, {.elements_max = most, .rules = rule_choice::none(), .order_fingerprint = true});
    const order_fingerprint expected = written.order;
    if (!complaint(r, written).empty()) return complaint(r, written);
    if (!expected.is_counted || expected.elements != written.elements.size()) return text_of_order(expected);
    std::string elements = type_text(*plan->type);
    for (const std::string& e : written.elements) elements += "\n" + e;
    const std::string type = elements.substr(0, elements.find('\n'));
    for (const auto& [other, digest] : ordered)
      if (digest == expected.ordered && other != elements && other.starts_with(type + "\n"))
        return "the digest of " + other;
    ordered.emplace(std::move(elements), expected.ordered);
    ++compared;
    std::string wrong =
        difference_from(run_on(two, plan, {.elements_max = most, .order_fingerprint = true}), expected, "two workers");
    if (wrong.empty())
      wrong =
          difference_from(run_on(two, plan, {.elements_max = most, .turns_knobs = r.line, .order_fingerprint = true}),
                          expected, "turned knobs");
    if (wrong.empty())
      wrong = difference_from(run_on(two, plan,
                                     {.elements_max = most,
                                      .tunes_every = std::chrono::milliseconds(1),
                                      .at_once = 3,
                                      .order_fingerprint = true}),
                              expected, "tuned");
    if (wrong.empty() && !r.plan.starts_with("{"))
      wrong = difference_from(
          run_on(two, parse_plan(r.plan + " | prefetch(2)"), {.elements_max = most, .order_fingerprint = true}),
          expected, "behind a channel");
    return wrong.empty() ? difference_resumed(two, r, plan, expected) : wrong;
  });
  if (runs_all_rows()) CHECK(compared > 20);
}

}  // namespace sluice::lib::order_fingerprint_rows_test
