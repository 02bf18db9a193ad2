// SPDX-License-Identifier: Apache-2.0
// Random plans with a cache (sluice/op/cache.hpp) on one runtime: a run that ends at any element, and later ones.
#include <algorithm>
#include <cstdint>

#include <catch2/catch.hpp>

#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/random/random_plan.hpp"
#include "support/sequential.hpp"
#include "support/test_files.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::cache_plans_test {

using namespace test;
using int64 = std::int64_t;

TEST_CASE("random plans with a cache equal plain loops in each epoch, after runs that end early") {
  std::uint64_t plans = 0;
  for (std::uint64_t seed = first_seed(); plans != cases(300); ++seed) {
    random_numbers random(seed);
    plan_ptr p = random_plan(random, {.depth = 3});
    p = above(case_named("cache"), {}, {p});
    const auto epochs = static_cast<int64>(1 + random.below(3));
    p = above(case_named("repeat"), {.a = epochs}, {p});
    const auto expected = evaluate(*p, 250);
    if (!expected || is_sloppy(*p)) continue;
    ++plans;
    CAPTURE(seed, describe(*p));
    const dataset<int64> ds = build(*p);
    const auto files = files_of(*p);
    simulation world(seed, {.cores = 2});
    runtime rt(world);
    if (files) put_files(world, rt, *files);
    auto way = [&] {
      consumption how;
      how.ask_max = random.below(2) ? 0 : 1 + static_cast<std::uint32_t>(random.below(40));
      how.marks_every = random.below(4);
      how.on_error = meets_bad_elements(*p) ? error_policy::skip : error_policy::stop;
      how.seed = random.below(1u << 30);
      how.files = files;
      return how;
    };
    consumption cut = way();
    cut.save = true;
    cut.elements_max = random.below(expected->size() + 1);
    cut.skip = random.below(3) ? 0 : random.below(5);
    const consumed first = consume_on(rt, ds, cut);
    CHECK(first.complaint() == "");
    const consumed whole = consume_on(rt, ds, way());
    CHECK(whole.complaint() == "");
    REQUIRE(whole.elements == *expected);
    consumption part = way();
    part.skip = random.below(expected->size() + 2);
    const std::size_t skipped = std::min<std::size_t>(part.skip, expected->size());
    REQUIRE(consume_on(rt, ds, part).elements ==
            int64s(expected->begin() + static_cast<std::ptrdiff_t>(skipped), expected->end()));
    if (cut.skip || first.places.empty()) continue;
    consumption later = way();
    const std::size_t at = random.below(first.places.size());
    later.from = first.places[at];
    if (later.from.empty()) continue;
    REQUIRE(consume_on(rt, ds, later).elements ==
            int64s(expected->begin() + static_cast<std::ptrdiff_t>(at), expected->end()));
  }
}

}  // namespace sluice::lib::cache_plans_test
