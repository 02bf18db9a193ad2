// SPDX-License-Identifier: Apache-2.0
// Random plans give what plain loops give, from every place in them: the engine's main promise, tried by the thousand.
//
// SLUICE_TEST_PLANS=N tries N of each kind; SLUICE_TEST_SEED=S starts at seed S (support/budget.hpp).
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <catch2/catch.hpp>

#include "sluice/io/files.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/sharing.hpp"
#include "support/tree_of.hpp"
#include "support/trials/plan_trial.hpp"

namespace sluice::lib::random_plans_test {
namespace {

using namespace test;

std::uint64_t plans(std::uint64_t usual) {
  const char* given = std::getenv("SLUICE_TEST_PLANS");
  return cases(given && *given ? std::strtoull(given, nullptr, 10) : usual);
}

/// Real workers, over files on the disk.
struct workers {
  explicit workers(unsigned n) : rt({.workers = n}) { set_files(rt, files_on_disk()); }
  runtime rt;
};

void try_plans(std::uint64_t count, const random_plan_options& some, const trial_options& o,
               plan_judge* judge = trial) {
  trial_counts counts;
  std::uint64_t first = first_seed(), seed = first;
  const bool loud = std::getenv("SLUICE_TEST_LOUD") != nullptr;
  for (; counts.plans < count; ++seed) {
    random_numbers random(seed);
    plan_ptr p = random_plan(random, some);
    if (loud) std::fprintf(stderr, "seed %llu %s\n", static_cast<unsigned long long>(seed), describe(*p).c_str());
    CAPTURE(seed, describe(*p));
    auto complaint = judge(*p, seed, o, counts);
    // Said at once: a plan that hangs in a simulation may take the process with it while smaller ones are tried.
    if (complaint) std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), complaint->c_str());
    if (complaint) FAIL(*complaint << "\nsmaller: " << shrunk(p, seed, o, judge));
  }
  SUCCEED();
  std::printf("seeds %llu to %llu: %s\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(seed - 1), counts.to_string().c_str());
}

/// Bytes of the position in the middle of a shuffled stream.
task<std::size_t> checkpoint_bytes(runtime& rt, std::int64_t buffer_size) {
  auto ds = range(100'000) | shuffle(buffer_size, {.seed = 3});
  auto s = ds.iterate(rt);
  std::size_t bytes = 0;
  for (int i = 0; i < 50'000; ++i) {
    auto x = co_await s.next();
    if (!x) break;
    if (i % 1000 == 0) test::tree_of(s).stage()->env->request_marks();
    bytes = std::max(bytes, s.position().bytes.size());
  }
  co_return bytes;
}

}  // namespace

TEST_CASE("random plans equal plain loops, and continue from every place, in a simulation", "[every_verb]") {
  try_plans(plans(1000), {}, {});
}

TEST_CASE("random plans with sloppy stages lose and repeat nothing from any place, in a simulation", "[every_verb]") {
  try_plans(plans(400), {.sloppy = true}, {});
}

TEST_CASE("random plans with sloppy stages in inner plans lose and repeat nothing from any place, in a simulation",
          "[every_verb]") {
  try_plans(plans(200), {.sloppy = true, .inside = true}, {});
}

TEST_CASE("random plans equal plain loops on one worker", "[every_verb]") {
  workers one(1);
  try_plans(plans(100), {}, {.on = &one.rt});
}

TEST_CASE("random plans equal plain loops on two workers, for any sharing of blocks", "[every_verb]") {
  for (const char* how : {"always", "mixed"}) {
    testing::sharing as(how);
    workers two(2);
    try_plans(plans(60), {}, {.on = &two.rt});
  }
}

TEST_CASE("random plans with sloppy stages lose and repeat nothing on two workers, for any sharing of blocks",
          "[every_verb]") {
  for (const char* how : {"always", "mixed"}) {
    testing::sharing as(how);
    workers two(2);
    try_plans(plans(40), {.sloppy = true}, {.on = &two.rt});
  }
}

TEST_CASE("random plans count errors where a plan without channels does, and end at the same one, in a simulation",
          "[every_verb]") {
  try_plans(plans(1000), {}, {}, error_trial);
}

TEST_CASE("random plans count errors where a plan without channels does on one and two workers", "[every_verb]") {
  for (unsigned n : {1u, 2u}) {
    workers some(n);
    try_plans(plans(100), {}, {.on = &some.rt}, error_trial);
  }
}

TEST_CASE("a shuffle's checkpoint does not grow with its buffer", "[every_verb]") {
  runtime rt({.workers = 1});
  auto of_ten = sync_wait(rt, checkpoint_bytes(rt, 10)), of_many = sync_wait(rt, checkpoint_bytes(rt, 20'000));
  CHECK(of_many <= of_ten + 2);  // two numbers, which may have a digit more
  CHECK(of_many < 100);
}

}  // namespace sluice::lib::random_plans_test
