// SPDX-License-Identifier: Apache-2.0
// Random plans of all verbs that are stopped or dropped at a random moment leave nothing behind.
//
// Every seed is a plan and a moment. SLUICE_TEST_SEED=S starts at seed S (support/budget.hpp).
#include <chrono>
#include <cstdint>

#include <catch2/catch.hpp>

#include "pipeline/stopped_run.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/random/random_plan.hpp"

namespace sluice::lib::stopped_plans_test {

using namespace stopped_run;

TEST_CASE("a random plan that is stopped or dropped at a random moment leaks nothing, in a simulation") {
  std::uint64_t first = test::first_seed(), count = test::cases(1000), early = 0;
  for (std::uint64_t seed = first; seed != first + count; ++seed) {
    random_numbers r(seed);
    bool sloppy = r.below(3) == 0;
    test::plan_ptr p = test::random_plan(r, {.depth = 6, .sloppy = sloppy});
    random_run run{test::build(*p), sloppy, {}};
    if (auto files = test::files_of(*p)) run.files = files->bytes;
    moment m = random_moment(r);
    m.yields %= 40;  // numbers are made sooner than read
    m.sleeps /= 100;
    if (m.drops_after > 500) m.drops_after = 500;  // some of these plans are very long
    run.sloppy = true;                             // and are compared with loops elsewhere
    CAPTURE(seed, test::describe(*p), m.yields, m.sleeps.count(), m.stops, m.drops_after, m.cleans_up);
    early += check_moment(run, m, seed);
  }
  CHECK(early > count / 8);
}

}  // namespace sluice::lib::stopped_plans_test
