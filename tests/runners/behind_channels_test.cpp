// SPDX-License-Identifier: Apache-2.0
// Each kind of channel works ahead of its consumer, and gives what its input gives.
#include <catch2/catch.hpp>

#include "runners/row_run.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::behind_channels_test {
namespace {

using namespace test;

std::string behind(runtime& rt, const row& r, const std::string& channel) {
  node_ptr plan = parse_plan(r.plan + channel);
  return difference(r, plan, [&](const node_ptr& p) { return run_on(rt, p, {.elements_max = most_of(r)}); }, channel);
}

/// The pump of an interleave, or of a merge, reads the whole plan: an outer plan is put around it, which only runs give away.
std::string inside(runtime& rt, const row& r, const std::string& before, const std::string& after) {
  if (!r.is_of_a_run()) return {};
  node_ptr plan = parse_plan(before + r.plan + after);
  return complaint(r, run_on(rt, plan, {.elements_max = most_of(r)}));
}

}  // namespace

TEST_CASE("rows hold behind each kind of channel") {
  runtime two({.workers = 2});
  every_row([&](const row& r) -> std::string {
    if (r.is_refused() || r.plan.starts_with("{"))
      return difference_of(r, [&](const node_ptr& plan) { return run_on(two, plan, {.elements_max = most_of(r)}); });
    std::string wrong;
    for (const char* channel : {" | prefetch(2)", " | prefetch"})
      if (wrong = behind(two, r, channel); !wrong.empty()) return std::string(channel) + ": " + wrong;
    if (wrong = inside(two, r, "", " | map(it, parallelism=2)"); !wrong.empty())
      return "map(it, parallelism=2): " + wrong;
    if (wrong = inside(two, r, "merge(", ", " + r.plan + " | take(0))"); !wrong.empty()) return "merge: " + wrong;
    return inside(two, r, "", " | interleave([it], cycle_length=2, parallelism=2)");
  });
}

}  // namespace sluice::lib::behind_channels_test
