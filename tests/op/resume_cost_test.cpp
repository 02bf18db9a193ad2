// SPDX-License-Identifier: Apache-2.0
// A resume makes again what was held and what was made since the last mark, however long the run and however many lives
// it has had. The goals are in docs/internals/measurements.md; SLUICE_TEST_LOUD=1 prints what was measured.
#include "support/trials/resume_cost.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/record_files.hpp"
#include "sluice/io/files.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/process_memory.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::resume_cost_test {
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

stream<int64> counting_up(saved<int64> made) {
  for (;;) {
    int64 x = (*made)++;
    co_yield x;
    made.commit();
  }
}
struct stage_case {
  std::string name;
  std::function<numbers(const numbers&)> make;
  std::uint64_t held = 0;  ///< elements of its input that a resume has to fetch again
  std::uint64_t rate = 1;  ///< of its input for each it gives
  bool opens_files = false;
};

/// Of the counted source that reads a file, again and again: some hundred reads.
const std::string kRecordsPath = "resume-cost/records";
constexpr std::int64_t kRecords = 5'000;

/// What any of the plans reads.
const test_files& all_files() {
  static const test_files all = [] {
    test_files files{.bytes = {{kRecordsPath, record_file(kRecords, 1)}}};
    for (auto* c : verb_cases())
      if (c->files) add_files(files, c->files({.a = c->resume.a, .b = c->resume.b}));
    return files;
  }();
  return all;
}

/// A verb case above a counted stream; a verb of several inputs has it as each of them in turn.
stage_case stage_of(const verb_case& c, std::size_t place) {
  std::string name(c.name);
  if (c.inputs > 1) name += ", input " + std::to_string(place + 1);
  auto make = [&c, place](const numbers& in) {
    verb_plan p{{.a = c.resume.a, .b = c.resume.b}, {}, {}};
    p.in.assign(static_cast<std::size_t>(c.inputs), range(kEndless) | batch(7) | unbatch());
    p.in[place] = in;
    for (int k = 0; k != c.inner; ++k) p.inner.push_back([](int64 x) { return range(x + 3, {.start = x}); });
    return c.build(p);
  };
  return {name, make, c.resume.held, c.resume.takes, c.files != nullptr};
}

/// What stands above a counted stream: every verb case, and compositions that a single one does not make.
std::vector<stage_case> stages() {
  std::vector<stage_case> all;
  for (auto* c : verb_cases())
    for (std::size_t place = 0; c->resume.takes && !c->meets_errors && place != static_cast<std::size_t>(c->inputs);
         ++place)
      all.push_back(stage_of(*c, place));
  all.push_back({"take | repeat", [](const numbers& in) { return in | take(5'000) | repeat(); }});
  all.push_back({"concatenate behind another", [](const numbers& in) { return concatenate(range(10), in); }});
  all.push_back({"zip, counted twice",
                 [](const numbers& in) {
                   return zip(in, range(kEndless) | prefetch(2), counted(range(kEndless))) |
                          map([](const std::tuple<int64, int64, int64>& t) { return std::get<0>(t); });
                 },
                 0, 2});
  return all;
}
stage_case stage_named(const std::string& name) {
  for (stage_case& s : stages())
    if (s.name == name) return s;
  throw std::logic_error("no stage is named " + name);
}

/// Where counted streams come from; the last ones count inside of what others open.
std::vector<stage_case> sources() {
  auto inner = [](int64 x) { return counted(range(1'000'000 * x + 1'000, {.start = 1'000'000 * x})); };
  auto sloppy = order::sloppy;
  return {
      {"range", [=](const numbers&) { return counted(range(kEndless)); }},
      {"tfrecord",
       [=](const numbers&) {
         return counted(tfrecord(kRecordsPath, {.read_bytes = 16 << 10}) | repeat() | map(number_in<record>));
       }},
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
  put_files(world, rt, all_files());
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

// Marks are paid for by time, and a sanitizer makes each some twenty times as dear: what is left there is that it resumes.
constexpr bool kCounted = !testing::kSanitized;

// Over real workers marks fall due by the clock as well: where other programs took the cores away meanwhile, it is tried again.
resume_cost resume_within(std::uint64_t goal, runtime& rt, const numbers& plan, std::uint64_t taken,
                          const life& how = {}) {
  resume_cost c = resume_after(rt, plan, taken, how);
  for (int more = 4; more && kCounted && c.complaint.empty() && c.made_again > goal; --more)
    c = resume_after(rt, plan, taken, how);
  return c;
}

}  // namespace

TEST_CASE("a resume rebuilds the held elements and one mark interval: every stage above every source", "[every_verb]") {
  for (const stage_case& source : sources()) {
    check(of(source), 1);
    for (const stage_case& s : stages()) check(of(source).above(s), 2);
  }
}

TEST_CASE("a resume rebuilds the held elements and one mark interval: pairs of stages", "[every_verb]") {
  plan_case range = of(sources()[0]);
  // All 441 take a minute or two: SLUICE_TEST_BUDGET=18 or so tries nearly all of them.
  std::vector<stage_case> all = stages();
  random_numbers random(first_seed());
  for (std::uint64_t n = cases(60); n; --n) {
    plan_case p = range;
    for (int i = 0; i != 2; ++i) p = p.above(all[random.below(all.size())]);
    check(p, 3);
  }
}

TEST_CASE("a resume rebuilds the held elements and one mark interval: triples of stages", "[every_verb]") {
  plan_case range = of(sources()[0]);
  std::vector<stage_case> all = stages();
  random_numbers random(first_seed());
  for (std::uint64_t n = cases(24); n; --n) {
    plan_case p = range;
    for (int i = 0; i != 3; ++i) p = p.above(all[random.below(all.size())]);
    check(p, n);
  }
}

TEST_CASE("each of eight lives of a run costs the same as one of its length: nothing accumulates", "[every_verb]") {
  constexpr std::uint64_t kLife = 5'000;
  plan_case range = of(sources()[0]);
  std::vector<plan_case> plans = {range.above(stage_named("unbatch"))
                                      .above(stage_named("prefetch"))
                                      .above(stage_named("unbatch"))
                                      .above(stage_named("shuffle"))};
  for (const stage_case& s : stages()) plans.push_back(range.above(s));
  for (const plan_case& p : plans) {
    simulation world(5);
    runtime rt(world, {.workers = 2});
    put_files(world, rt, all_files());
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

TEST_CASE("a resume by next() on one and on two workers rebuilds the held elements and a mark interval",
          "[every_verb]") {
  constexpr std::uint64_t kMany = testing::kSanitized ? 25'000 : 120'000;
  constexpr std::uint64_t kBlocks = 33 * 1024;  // the interval where blocks are as large as they get
  for (unsigned workers : {1u, 2u}) {
    runtime rt({.workers = workers});
    set_files(rt, files_on_disk());
    write_files(all_files());
    for (const stage_case& s : stages()) {
      plan_case p = of(sources()[0]).above(s);
      std::uint64_t goal = p.held + (p.levels + 1) * kBlocks * p.rate;
      const std::uint64_t many = s.opens_files ? kMany / 10 : kMany;  // most of them one for each input
      resume_cost c = resume_within(goal, rt, p.plan, many);
      CAPTURE(p.name, workers, c.made);
      CHECK(c.complaint == "");
      if (kLoud)
        std::printf("%-66s %8llu again %8llu goal %8llu  %7.2f ms, %u workers\n", p.name.c_str(),
                    static_cast<unsigned long long>(c.made), static_cast<unsigned long long>(c.made_again),
                    static_cast<unsigned long long>(goal), c.first_ms, workers);
      if (kCounted) CHECK(c.made_again <= goal);
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

TEST_CASE("a resume of megabyte elements makes a few dozen of them again", "[every_verb]") {
  auto big = counted(range(kEndless)) | map(a_megabyte);
  std::vector<std::pair<const char*, numbers>> plans = {
      {"1 MiB", big | map(size_of)},
      {"1 MiB | prefetch", big | prefetch(4) | map(size_of)},
      {"1 MiB | shuffle", big | shuffle(4, {.seed = 1}) | map(size_of)},
      {"1 MiB | map parallel | prefetch", big | map(size_of, {.parallelism = 2}) | prefetch(4)},
  };
  for (auto& [name, plan] : plans) {
    runtime rt({.workers = 2});
    // 32 blocks of one for each of four levels, what a shuffle of four holds, read-ahead; twice that where the clock asks
    // for marks later because other programs have the cores.
    constexpr std::uint64_t kGoal = 400;
    resume_cost c = resume_within(kGoal, rt, plan, 1'500, {.ask = 1});
    CAPTURE(name, c.made);
    CHECK(c.complaint == "");
    if (kLoud)
      std::printf("%-66s %8llu again %8llu  %7.2f ms\n", name, static_cast<unsigned long long>(c.made),
                  static_cast<unsigned long long>(c.made_again), c.first_ms);
    if (kCounted) CHECK(c.made_again <= kGoal);
  }
}

TEST_CASE("a resume of move-only elements rebuilds the held elements and one mark interval", "[every_verb]") {
  plan_case p = {"move-only", counted(range(kEndless)) | map(boxed) | prefetch(4) | map(unboxed), 8, 1, 4};
  check(p, 7);
}

TEST_CASE("the main job's first batch after a resume comes as soon as the buffers are full again", "[every_verb]") {
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
      // A shuffle's oldest element is ten to twelve buffers old, a mark a quarter of that; and four levels are up to
      // 10 ms behind, as a rule, each some 40,000 records.
      constexpr std::uint64_t kGoal = 600'000;
      resume_cost c = resume_within(kGoal, rt, batches, taken);
      CAPTURE(workers, taken);
      CHECK(c.complaint == "");
      if (kLoud)
        std::printf(
            "main job, %llu batches of 64: %llu records made, again %llu, %.1f ms to the first batch, %u workers\n",
            static_cast<unsigned long long>(taken), static_cast<unsigned long long>(c.made),
            static_cast<unsigned long long>(c.made_again), c.first_ms, workers);
      if (kCounted) CHECK(c.made_again <= kGoal);
    }
  }
}

}  // namespace sluice::lib::resume_cost_test
