// SPDX-License-Identifier: Apache-2.0
// A resume makes again what was held and what was made since the last mark, however long the run and however many lives
// it has had. The goals are in docs/testing.md; SLUICE_TEST_LOUD=1 prints what was measured.
#include "support/resume_cost.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/process_memory.hpp"
#include "support/random_plan.hpp"

namespace sluice::lib {
namespace {

using namespace test;
using int64 = std::int64_t;
using numbers = dataset<int64>;

/// Elements a request, and what that makes of a mark interval: a root asks for marks every 32 requests.
constexpr std::uint32_t kAsk = 4;
constexpr std::uint64_t kInterval = 32 * kAsk;
/// A channel's slots come to take 1,024 elements each where making them takes no time, as in a simulation.
constexpr std::uint64_t kSlotElements = 1024;
constexpr std::uint64_t kRun = testing::kSanitized ? 6'000 : 60'000;  // what a resume costs does not grow with it

const bool kLoud = std::getenv("SLUICE_TEST_LOUD") != nullptr;

stream<int64> passed_on(stateless, stream<int64> in) {
  while (auto x = co_await in.next()) co_yield *x;
}
stream<int64> summed_up(saved<int64> sum, stream<int64> in) {
  while (auto x = co_await in.next()) {
    *sum += *x;
    co_yield *sum;
  }
}
stream<int64> committed(saved<int64> sum, stream<int64> in) {
  sum.commit();
  while (auto x = co_await in.next()) {
    *sum += *x;
    co_yield *sum;
    sum.commit();
  }
}
stream<int64> counting_up(saved<int64> made) {
  for (;;) {
    int64 x = (*made)++;
    co_yield x;
    made.commit();
  }
}
task<int64> awaited(int64 x) { co_return x; }
int64 first_of_window(const std::vector<int64>& w) { return w[0]; }

struct stage_case {
  const char* name;
  std::function<numbers(const numbers&)> make;
  std::uint64_t held = 0;  ///< elements of its input that a resume has to fetch again
  std::uint64_t rate = 1;  ///< of its input for each it gives
};

/// What stands above a counted stream.
std::vector<stage_case> stages() {
  auto half = [](int64 x) { return x % 2 == 0; };
  auto same = [](int64 x) { return x; };
  auto few = [](int64 x) { return range(x + 3, {.start = x}); };
  auto sloppy = order::sloppy;
  return {
      {"map", [=](const numbers& in) { return in | map(same); }},
      {"map awaiting", [=](const numbers& in) { return in | map(awaited); }},
      {"filter", [=](const numbers& in) { return in | filter(half); }, 0, 2},
      {"skip", [=](const numbers& in) { return in | skip(10); }},
      {"take", [=](const numbers& in) { return in | take(kEndless); }},
      {"batch | unbatch", [=](const numbers& in) { return in | batch(50) | unbatch(); }, 100},
      {"shuffle", [=](const numbers& in) { return in | shuffle(50, {.seed = 3}); }, 1'000},
      {"repeat", [=](const numbers& in) { return in | take(5'000) | repeat(); }},
      {"prefetch", [=](const numbers& in) { return in | prefetch(16); }, 32},
      {"prefetch auto", [=](const numbers& in) { return in | prefetch(); }, 12 * kSlotElements},
      {"map parallel", [=](const numbers& in) { return in | map(same, {.parallelism = 2}); }, 5 * kSlotElements},
      {"map awaiting parallel", [=](const numbers& in) { return in | map(awaited, {.parallelism = 4}); }, 8},
      {"map sloppy", [=](const numbers& in) { return in | map(same, {.parallelism = 2, .order = sloppy}); },
       5 * kSlotElements},
      {"map awaiting sloppy", [=](const numbers& in) { return in | map(awaited, {.parallelism = 4, .order = sloppy}); },
       8},
      {"enumerate",
       [=](const numbers& in) {
         return in | enumerate() | map([](const std::pair<int64, int64>& p) { return p.second; });
       }},
      {"scan", [=](const numbers& in) { return in | scan([](int64& sum, int64 x) { return sum += x; }); }},
      {"zip",
       [=](const numbers& in) {
         return zip(in, range(kEndless) | batch(7) | unbatch()) |
                map([](const std::pair<int64, int64>& p) { return p.first; });
       }},
      {"zip, counted twice",
       [=](const numbers& in) {
         return zip(in, range(kEndless) | prefetch(2), counted(range(kEndless))) |
                map([](const std::tuple<int64, int64, int64>& t) { return std::get<0>(t); });
       },
       0, 2},
      {"concatenate", [=](const numbers& in) { return concatenate(range(10), in); }},
      {"flat_map", [=](const numbers& in) { return in | flat_map(few); }},
      {"interleave", [=](const numbers& in) { return in | interleave(few, {.cycle_length = 3}); }, 6},
      {"interleave parallel",
       [=](const numbers& in) { return in | interleave(few, {.cycle_length = 3, .parallelism = 2}); }, 12},
      {"interleave sloppy",
       [=](const numbers& in) { return in | interleave(few, {.cycle_length = 3, .parallelism = 2, .order = sloppy}); },
       12},
      {"stage stateless",
       [=](const numbers& in) {
         return in | transform([](stream<int64> s) { return passed_on(stateless(), std::move(s)); });
       }},
      {"stage saved",
       [=](const numbers& in) {
         return in | transform([](stream<int64> s) { return summed_up(saved<int64>(), std::move(s)); });
       }},
      {"stage committing",
       [=](const numbers& in) {
         return in | transform([](stream<int64> s) { return committed(saved<int64>(), std::move(s)); });
       }},
  };
}

/// Where counted streams come from; the last ones count inside of what others open.
std::vector<stage_case> sources() {
  auto inner = [](int64 x) { return counted(range(1'000'000 * x + 1'000, {.start = 1'000'000 * x})); };
  auto sloppy = order::sloppy;
  return {
      {"range", [=](const numbers&) { return counted(range(kEndless)); }},
      {"generate", [=](const numbers&) { return counted(generate([] { return counting_up(saved<int64>()); })); }},
      {"flat_map of", [=](const numbers&) { return range(kEndless) | flat_map(inner); }, 0},
      {"interleave of", [=](const numbers&) { return range(kEndless) | interleave(inner, {.cycle_length = 3}); }, 64},
      {"interleave parallel of",
       [=](const numbers&) { return range(kEndless) | interleave(inner, {.cycle_length = 3, .parallelism = 2}); },
       6 * kSlotElements},
      {"interleave sloppy of",
       [=](const numbers&) {
         return range(kEndless) | interleave(inner, {.cycle_length = 3, .parallelism = 2, .order = sloppy});
       },
       6 * kSlotElements},
  };
}

/// A plan, and what a resume of it may make again.
struct plan_case {
  std::string name;
  numbers plan;
  std::uint64_t held = 0;
  std::uint64_t rate = 1;
  std::uint64_t levels = 1;
  plan_case above(const stage_case& s) const {
    return {name + " | " + s.name, s.make(plan), held + s.held * rate, rate * s.rate, levels + 1};
  }
  /// Each level may be a mark interval behind, and holds what it asked for at once.
  std::uint64_t goal() const { return held + (levels + 1) * (kInterval + kAsk) * rate; }
};
plan_case of(const stage_case& source) { return {source.name, source.make(range(0)), source.held}; }

void check(const plan_case& p, std::uint64_t seed) {
  simulation world(seed);
  runtime rt(world, {.workers = 2});
  resume_cost c = resume_after(rt, p.plan, kRun, {.ask = kAsk});
  CAPTURE(p.name, c.made, p.held, p.goal());
  CHECK(c.complaint == "");
  CHECK(c.made >= kRun / 27);  // three times flat_map, which makes three of one
  if (kLoud)
    std::printf("%-66s %8llu again %8llu goal %8llu  %4zu bytes\n", p.name.c_str(),
                static_cast<unsigned long long>(c.made), static_cast<unsigned long long>(c.made_again),
                static_cast<unsigned long long>(p.goal()), c.checkpoint_bytes);
  CHECK(c.made_again <= p.goal());
}

}  // namespace

TEST_CASE("a resume makes again what is held and one mark interval: every stage above every source") {
  for (const stage_case& source : sources()) {
    check(of(source), 1);
    for (const stage_case& s : stages()) check(of(source).above(s), 2);
  }
}

TEST_CASE("a resume makes again what is held and one mark interval: pairs of stages") {
  plan_case range = of(sources()[0]);
  // All 441 take a minute or two: SLUICE_TEST_BUDGET=9 or so tries nearly all of them.
  std::vector<stage_case> all = stages();
  random_numbers random(first_seed());
  for (std::uint64_t n = cases(120); n; --n) {
    plan_case p = range;
    for (int i = 0; i != 2; ++i) p = p.above(all[random.below(all.size())]);
    check(p, 3);
  }
}

TEST_CASE("a resume makes again what is held and one mark interval: triples of stages") {
  plan_case range = of(sources()[0]);
  std::vector<stage_case> all = stages();
  random_numbers random(first_seed());
  for (std::uint64_t n = cases(40); n; --n) {
    plan_case p = range;
    for (int i = 0; i != 3; ++i) p = p.above(all[random.below(all.size())]);
    check(p, n);
  }
}

TEST_CASE("a resume makes again what a window reaches over and one mark interval, between stages of every kind") {
  const std::vector<stage_case> windows = {
      {"window", [](const numbers& in) { return in | window(50, {.shift = 10}) | map(first_of_window); }, 50, 10},
      {"window with gaps", [](const numbers& in) { return in | window(2, {.shift = 7}) | map(first_of_window); }, 2, 7},
  };
  plan_case range = of(sources()[0]);
  for (const stage_case& w : windows) {
    for (const stage_case& source : sources()) check(of(source).above(w), 2);
    for (const stage_case& s : stages()) {
      check(range.above(w).above(s), 3);
      check(range.above(s).above(w), 3);
    }
  }
}

TEST_CASE("eight lives of a run cost what one of their length costs, each: nothing is carried on") {
  constexpr std::uint64_t kLife = 5'000;
  plan_case range = of(sources()[0]);
  std::vector<plan_case> plans = {range.above(stages()[5]).above(stages()[8]).above(stages()[5]).above(stages()[6])};
  for (const stage_case& s : stages()) plans.push_back(range.above(s));
  for (const plan_case& p : plans) {
    simulation world(5);
    runtime rt(world, {.workers = 2});
    checkpoint from;
    std::vector<std::uint64_t> made;
    for (int i = 0; i != 8; ++i) {
      life_cost c = live(rt, p.plan, kLife, {.ask = kAsk, .from = from});
      CHECK(c.complaint == "");
      from = c.at_end;
      made.push_back(c.made);
    }
    CAPTURE(p.name, made, p.goal());
    if (kLoud)
      std::printf("%-66s lives of %llu: %llu … %llu\n", p.name.c_str(), static_cast<unsigned long long>(kLife),
                  static_cast<unsigned long long>(made[0]), static_cast<unsigned long long>(made[7]));
    for (std::uint64_t m : made) CHECK(m <= kLife * p.rate + 2 * p.goal());
  }
}

TEST_CASE("a resume by next() on one and on two workers makes again what is held and a mark interval") {
  constexpr std::uint64_t kMany = testing::kSanitized ? 25'000 : 250'000;
  constexpr std::uint64_t kBlocks = 33 * 1024;  // the interval where blocks are as large as they get
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    for (const stage_case& s : stages()) {
      plan_case p = of(sources()[0]).above(s);
      std::uint64_t goal = p.held + (p.levels + 1) * kBlocks * p.rate;
      // Marks fall due by the clock as well: where other programs took the cores away meanwhile, it is tried again.
      resume_cost c = resume_after(rt, p.plan, kMany, {});
      for (int more = 4; more && c.complaint.empty() && c.made_again > goal; --more)
        c = resume_after(rt, p.plan, kMany, {});
      CAPTURE(p.name, workers, c.made);
      CHECK(c.complaint == "");
      if (kLoud)
        std::printf("%-66s %8llu again %8llu goal %8llu  %7.2f ms, %u workers\n", p.name.c_str(),
                    static_cast<unsigned long long>(c.made), static_cast<unsigned long long>(c.made_again),
                    static_cast<unsigned long long>(goal), c.first_ms, workers);
      // Marks are paid for by time, and a sanitizer makes each some twenty times as dear: what is left is that it resumes.
      if (!testing::kSanitized) CHECK(c.made_again <= goal);
    }
  }
}

namespace {

std::string a_megabyte(int64 x) { return std::string(std::size_t{1} << 20, static_cast<char>('a' + x % 26)); }
int64 size_of(const std::string& s) { return static_cast<int64>(s.size()); }
std::unique_ptr<int64> boxed(int64 x) { return std::make_unique<int64>(x); }
int64 unboxed(const std::unique_ptr<int64>& x) { return *x; }
int64 bytes_of(const record& r) { return static_cast<int64>(r.view().size()); }
int64 rows_of(const batched<int64>& b) { return b.size(); }

}  // namespace

TEST_CASE("a resume of megabyte elements makes a few dozen of them again") {
  auto big = counted(range(kEndless)) | map(a_megabyte);
  std::vector<std::pair<const char*, numbers>> plans = {
      {"1 MiB", big | map(size_of)},
      {"1 MiB | prefetch", big | prefetch(4) | map(size_of)},
      {"1 MiB | shuffle", big | shuffle(4, {.seed = 1}) | map(size_of)},
      {"1 MiB | map parallel | prefetch", big | map(size_of, {.parallelism = 2}) | prefetch(4)},
  };
  for (auto& [name, plan] : plans) {
    runtime rt({.workers = 2});
    resume_cost c = resume_after(rt, plan, 1'500, {.ask = 1});
    CAPTURE(name, c.made);
    CHECK(c.complaint == "");
    if (kLoud)
      std::printf("%-66s %8llu again %8llu  %7.2f ms\n", name, static_cast<unsigned long long>(c.made),
                  static_cast<unsigned long long>(c.made_again), c.first_ms);
    // 32 blocks of one for each of four levels, what a shuffle of four holds, read-ahead; twice that where the clock asks
    // for marks later because other programs have the cores.
    CHECK(c.made_again <= 400);
  }
}

TEST_CASE("a resume of move-only elements makes what is held and one mark interval again") {
  plan_case p = {"move-only", counted(range(kEndless)) | map(boxed) | prefetch(4) | map(unboxed), 8, 1, 4};
  check(p, 7);
}

TEST_CASE("the main job's first batch after a resume comes as soon as the buffers are full again") {
  constexpr std::size_t kFiles = 8, kRecords = 60'000;
  constexpr int kPasses = 5;  // over the same files, as if there were more of them
  testing::temporary_folder folder;
  std::string bytes = testing::file_of(kRecords, 160);
  std::vector<std::string> names;
  for (std::size_t i = 0; i != kFiles; ++i) names.push_back(folder.write("part-" + std::to_string(i), bytes));
  std::vector<std::string> all;
  for (int i = 0; i != kPasses; ++i) all.insert(all.end(), names.begin(), names.end());
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    auto records = from_elements(all) | interleave(tfrecord, {.cycle_length = 8, .parallelism = autotune}) |
                   map(bytes_of, {.parallelism = autotune});
    auto batches = counted(records) | shuffle(10'000, {.seed = 7}) | batch(64) | prefetch() | map(rows_of);
    for (std::uint64_t taken : {std::uint64_t{3'000}, std::uint64_t{30'000}}) {
      resume_cost c = resume_after(rt, batches, taken, {});
      CAPTURE(workers, taken);
      CHECK(c.complaint == "");
      if (kLoud)
        std::printf(
            "main job, %llu batches of 64: %llu records made, again %llu, %.1f ms to the first batch, %u workers\n",
            static_cast<unsigned long long>(taken), static_cast<unsigned long long>(c.made),
            static_cast<unsigned long long>(c.made_again), c.first_ms, workers);
      // A shuffle's oldest element is ten to twelve buffers old, a mark a quarter of that; and four levels are up to
      // 10 ms behind, as a rule, each some 40,000 records.
      CHECK(c.made_again <= 600'000);
      CHECK(c.first_ms < 1'500);  // goal: 300, on a machine that does nothing else
    }
  }
}

}  // namespace sluice::lib
