// SPDX-License-Identifier: Apache-2.0
// Stages that log their choices, in plans that other stages open during the run: a resume loses and repeats nothing from any
// place, although the mark that it begins with may be older than the inner plan.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/coro/resume_on.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/random/random_numbers.hpp"
#include "support/trials/consumption.hpp"

namespace sluice::lib::sloppy_inner_plans_test {
namespace {

using namespace test;
using int64 = std::int64_t;
using numbers = dataset<int64>;

constexpr auto kSloppy = order::sloppy;

/// Which of several calls ends first is drawn by the simulation.
task<int64> later(int64 x) {
  for (int turn = 0; turn != 3; ++turn) co_await yield_now();
  co_return x;
}
int64 same(int64 x) { return x; }

/// Ten times x and the three numbers behind it, in whatever order.
numbers four_of(int64 x) {
  return range(10 * x + 4, {.start = 10 * x}) | map(later, {.parallelism = 4, .order = kSloppy});
}
numbers four_of_one(int64 x) { return range(x + 1, {.start = x}) | flat_map(four_of); }
numbers four_in_turn(int64 x) { return range(10 * x + 4, {.start = 10 * x}) | map(later, {.parallelism = 4}); }
numbers interleaved(int64 x) {
  return range(10 * x + 4, {.start = 10 * x}) |
         interleave(four_in_turn, {.cycle_length = 3, .parallelism = 3, .order = kSloppy});
}
numbers merged(int64 x) {
  return merge(range(10 * x + 2, {.start = 10 * x}) | map(later, {.parallelism = 2}),
               range(10 * x + 4, {.start = 10 * x + 2}) | map(later, {.parallelism = 2}));
}

struct plan_case {
  std::string name;
  numbers plan;
};

std::vector<plan_case> plans() {
  const auto outer = range(3);
  const auto sloppy = outer | flat_map(four_of);
  const interleave_options in_turn{.cycle_length = 2};
  const interleave_options parallel{.cycle_length = 2, .parallelism = 2};
  const interleave_options any_order{.cycle_length = 2, .parallelism = 2, .order = kSloppy};
  const auto map_sloppy = map(later, {.parallelism = 4, .order = kSloppy});
  return {
      {"flat_map | prefetch", sloppy | prefetch(2)},
      {"flat_map | map parallel", sloppy | map(later, {.parallelism = 3})},
      {"flat_map | map sloppy", sloppy | map(later, {.parallelism = 3, .order = kSloppy})},
      {"flat_map | map sloppy | prefetch", sloppy | map(same, {.parallelism = 3, .order = kSloppy}) | prefetch(2)},
      {"flat_map | shuffle", sloppy | shuffle(5, {.seed = 1})},
      {"flat_map | batch | unbatch", sloppy | batch(5) | unbatch() | prefetch(1)},
      {"flat_map of flat_map", outer | flat_map(four_of_one) | prefetch(2)},
      {"flat_map of interleave sloppy", outer | flat_map(interleaved) | prefetch(2)},
      {"flat_map of merge", outer | flat_map(merged) | prefetch(2)},
      {"interleave | prefetch", outer | interleave(four_of, in_turn) | prefetch(2)},
      {"interleave parallel", outer | interleave(four_of, parallel)},
      {"interleave parallel | prefetch", range(5) | interleave(four_of, parallel) | prefetch(2)},
      {"interleave parallel of flat_map", outer | interleave(four_of_one, parallel) | shuffle(4, {.seed = 2})},
      {"interleave sloppy", outer | interleave(four_of, any_order)},
      {"interleave sloppy | prefetch", range(5) | interleave(four_of, any_order) | prefetch(2)},
      {"repeat | prefetch", range(4) | map_sloppy | repeat(3) | prefetch(2)},
      {"repeat | shuffle", range(4) | map_sloppy | repeat(3) | shuffle(3, {.seed = 3})},
      {"concatenate | prefetch", concatenate(four_of(0), four_of(1), four_of(2)) | prefetch(2)},
      {"group_by_window | prefetch",
       range(12) | group_by_window([](int64 x) { return x % 3; }, map_sloppy, 4) | prefetch(2)},
  };
}

int64s sorted(int64s v) {
  std::sort(v.begin(), v.end());
  return v;
}
/// There is one place more, behind the end.
int64s tail(const int64s& all, std::size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(std::min(from, all.size())), all.end()};
}

struct tried {
  std::uint64_t resumes = 0, wrong = 0, first_seed = 0;
};

/// Resumes from each place of a run; and from a place of each run that was resumed, twice.
void try_one(const plan_case& p, std::uint64_t seed, tried& all) {
  constexpr int kLives = 3;
  random_numbers random(seed);
  consumption how{.save = true, .seed = seed};
  how.ask_max = random.below(2) ? 0 : 1 + static_cast<std::uint32_t>(random.below(4));
  how.marks_every = random.below(6);
  const consumed whole = consume(p.plan, how);
  auto is_right = [&](const consumed& got, const int64s& rest) {
    ++all.resumes;
    if (got.complaint().empty() && sorted(got.elements) == sorted(rest)) return true;
    if (++all.wrong == 1) all.first_seed = seed;
    return false;
  };
  if (!is_right(whole, consume(p.plan, {}).elements)) return;
  for (std::size_t i = 0; i < whole.places.size(); ++i) {
    consumed last = whole;
    for (std::size_t from = i, life = 0; life != kLives && !last.places[from].empty(); ++life) {
      how.seed = random.below(1 << 30);
      how.from = last.places[from];
      how.turns_knobs = random.below(2) != 0;
      consumed next = consume(p.plan, how);
      if (!is_right(next, tail(last.elements, from))) break;
      last = std::move(next);
      from = random.below(last.places.size());
    }
  }
}

}  // namespace

TEST_CASE("a stage that logs its choices loses and repeats nothing in a plan that another stage opens") {
  const std::uint64_t seeds = cases(40);
  for (const plan_case& p : plans()) {
    tried all;
    for (std::uint64_t seed = first_seed(); seed != first_seed() + seeds; ++seed) try_one(p, seed, all);
    CAPTURE(p.name, all.resumes, all.wrong, all.first_seed);
    CHECK(all.wrong == 0);
    CHECK(all.resumes > 20 * seeds);
  }
}

}  // namespace sluice::lib::sloppy_inner_plans_test
