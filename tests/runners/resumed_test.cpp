// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>

#include "runners/row_run.hpp"

namespace sluice::lib::resumed_test {
namespace {

using namespace test;
using machine = std::function<row_outcome(const node_ptr&, const row_request&)>;

/// Saves a position before each request for `at_once` elements, and after the end or the error, and resumes from each.
std::string try_resumes(const row& r, const node_ptr& plan, const machine& run, std::uint32_t at_once) {
  row_outcome whole = run(plan, {.elements_max = most_of(r), .save = true, .at_once = at_once});
  std::string wrong = complaint(r, whole);
  for (std::size_t i = 0; wrong.empty() && i != whole.places.size(); ++i) {
    const std::size_t delivered = whole.delivered_before[i];
    wrong = complaint(r, run(plan, {.elements_max = most_of(r) - delivered, .from = whole.places[i]}), delivered);
    if (!wrong.empty()) wrong = "resumed at element " + std::to_string(delivered) + ": " + wrong;
  }
  return wrong;
}

/// Each run counts what it drops itself: at least the elements that were still to be dropped, and no more than all.
std::string try_resumed_counts(const row& r, const machine& run) {
  const node_ptr plan = plan_of(r);
  const row_outcome whole = run(plan, {.elements_max = most_of(r), .save = true});
  if (whole.end != "end" || std::to_string(whole.dropped) != r.expected)
    return std::to_string(whole.dropped) + " " + whole.end;
  for (std::size_t i = 0; i != whole.places.size(); ++i) {
    const row_outcome rest = run(plan, {.elements_max = most_of(r), .from = whole.places[i]});
    if (rest.end == "end" && rest.dropped <= whole.dropped && rest.dropped + whole.dropped_before[i] >= whole.dropped)
      continue;
    return std::to_string(rest.dropped) + " after a resume at element " + std::to_string(i) + ", before which " +
           std::to_string(whole.dropped_before[i]) + " were dropped; " + rest.end;
  }
  return {};
}

std::string difference_when_resumed(const row& r, const machine& run, std::uint32_t at_once = 1) {
  if (r.what == row_check::dropped) return try_resumed_counts(r, run);
  if (r.what == row_check::other) return {};
  if (!r.is_of_a_run()) return difference_of(r, {});
  return try_resumes(r, plan_of(r), run, at_once);
}

}  // namespace

TEST_CASE("rows hold when they are resumed at every element") {
  runtime two({.workers = 2});
  auto run = [&](const node_ptr& plan, const row_request& request) { return run_on(two, plan, request); };
  every_row([&](const row& r) { return difference_when_resumed(r, run); });
}

TEST_CASE("rows hold when they are resumed between blocks") {
  runtime two({.workers = 2});
  auto run = [&](const node_ptr& plan, const row_request& request) { return run_on(two, plan, request); };
  for (const std::uint32_t at_once : {2u, 5u, 100u})
    every_row([&](const row& r) { return difference_when_resumed(r, run, at_once); });
}

TEST_CASE("rows hold when they are resumed at every element behind a channel") {
  runtime two({.workers = 2});
  auto run = [&](const node_ptr& plan, const row_request& request) { return run_on(two, plan, request); };
  every_row([&](const row& r) {
    if (!r.is_of_a_run() || r.plan.starts_with("{")) return difference_when_resumed(r, run);
    row behind = r;
    behind.plan += " | prefetch(2)";
    return difference_when_resumed(behind, run);
  });
}

TEST_CASE("rows hold in a simulation, where they are resumed at every element") {
  std::uint64_t seed = 0;
  auto run = [&](const node_ptr& plan, const row_request& request) { return run_in_simulation(++seed, plan, request); };
  every_row([&](const row& r) {
    seed = r.line;
    const bool reads_files = r.plan.find("tests/") != std::string::npos;  // which a simulation does not have
    return reads_files ? std::string() : difference_when_resumed(r, run);
  });
}

}  // namespace sluice::lib::resumed_test
