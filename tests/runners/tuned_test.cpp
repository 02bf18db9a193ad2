// SPDX-License-Identifier: Apache-2.0
#include <chrono>

#include <catch2/catch.hpp>

#include "runners/row_run.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib::tuned_test {

using namespace test;
using std::chrono::microseconds;

TEST_CASE("rows hold while the tuner sets knobs, on two workers and in virtual time") {
  runtime two({.workers = 2});
  every_row([&](const row& r) {
    auto run = [&](const node_ptr& plan) {
      return run_on(two, plan, {.elements_max = most_of(r), .tunes_every = microseconds(1)});
    };
    std::string wrong = difference_of(r, run);
    // Most plans have no knob of their own.
    if (wrong.empty() && r.is_of_a_run() && !r.plan.starts_with("{"))
      wrong = complaint(
          r, run(parse_plan(r.plan + " | map(it, parallelism=1024) | prefetch | map(it, parallelism=autotune)")));
    const bool names_files = r.plan.find('"') != std::string::npos;  // a simulation has no files of this machine
    if (!wrong.empty() || names_files) return wrong;
    return difference_of(r, [&](const node_ptr& plan) {
      return run_in_simulation(r.line + 1, plan, {.elements_max = most_of(r), .tunes_every = microseconds(100)});
    });
  });
}

TEST_CASE("rows resume at each element while the tuner sets knobs") {
  runtime two({.workers = 2});
  every_row([&](const row& r) {
    if (!r.is_of_a_run()) return std::string();
    const node_ptr plan = plan_of(r);
    const row_outcome whole =
        run_on(two, plan, {.elements_max = most_of(r), .save = true, .tunes_every = microseconds(1)});
    if (std::string wrong = complaint(r, whole); !wrong.empty()) return wrong;
    for (std::size_t i = 0; i < whole.places.size(); i += 1 + whole.places.size() / 8) {
      const std::size_t from = whole.delivered_before[i];
      const row_outcome rest = run_on(
          two, plan, {.elements_max = most_of(r) - from, .from = whole.places[i], .tunes_every = microseconds(1)});
      if (std::string wrong = complaint(r, rest, from); !wrong.empty())
        return "from " + std::to_string(from) + ": " + wrong;
    }
    return std::string();
  });
}

}  // namespace sluice::lib::tuned_test
