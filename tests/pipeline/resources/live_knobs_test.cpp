// SPDX-License-Identifier: Apache-2.0
// Knobs that are turned while a run works: the elements stay what they are, and so do positions.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include <catch2/catch.hpp>

#include "io/temporary_folder.hpp"
#include "pipeline/file_world.hpp"
#include "pipeline/input_files.hpp"
#include "pipeline/tunables.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "support/elements.hpp"
#include "support/tree_of.hpp"
#include "support/trials/turned_knobs.hpp"

namespace sluice::lib::live_knobs_test {
namespace {

using namespace testing;
using int64 = std::int64_t;
using int64s = std::vector<int64>;

void turn_a_knob(site_table& sites, simulation& world) {
  CHECK(test::turn_a_knob(sites, [&world](std::uint64_t n) { return world.random(n); }).mistake == "");
}

struct turned {
  int64s elements;
  std::vector<std::pair<std::size_t, checkpoint>> places;  ///< after so many elements
  std::uint64_t errors = 0;
  std::uint64_t turns = 0;
};

/// Turns knobs between any two steps of the world, until the run has ended.
task<> turner(std::shared_ptr<site_table> sites, simulation& world, const bool& over, turned& t) {
  while (!over) {
    turn_a_knob(*sites, world);
    ++t.turns;
    if (world.chance(0.2)) {
      auto wait = sleep_for(std::chrono::microseconds(world.random(40)));
      co_await wait;
    }
    yield_now others_first;
    co_await others_first;
  }
}

task<> consume(stream<int64>& s, simulation& world, bool& over, turned& t) {
  for (;;) {
    if (world.chance(0.1)) t.places.emplace_back(t.elements.size(), s.position());
    if (world.chance(0.2)) test::tree_of(s).stage()->env->request_marks();
    if (world.chance(0.5)) {
      yield_now others_first;
      co_await others_first;
    }
    auto x = co_await s.next();
    if (!x) break;
    t.elements.push_back(*x);
  }
  over = true;
}

task<> run_turning(runtime& rt, simulation& world, const dataset<int64>& ds, const checkpoint& from, turned& t) {
  iterate_options o;
  o.on_error = error_policy::skip;
  o.from = from;
  o.seed = 7;
  stream<int64> s = ds.iterate(rt, o);
  bool over = false;
  environment* env = co_await this_environment();
  scope work(*env);
  work.spawn(turner(sites_of(s), world, over, t));
  work.spawn(consume(s, world, over, t));
  co_await work.join();
  t.errors = report_of(s).errors;
  auto end = cleanup(std::move(s));
  co_await end;
}

turned run_turned(const dataset<int64>& ds, std::uint64_t seed, const checkpoint& from = {}) {
  simulation world(seed);
  runtime rt(world, {.workers = 2});
  turned t;
  sync_wait(rt, run_turning(rt, world, ds, from, t));
  return t;
}

}  // namespace

TEST_CASE("every knob turned at random at every step, from and to 1: the same elements, and the same after a resume") {
  std::uint64_t turns = 0, resumes = 0;
  for (const tunable& t : tunables()) {
    for (int64 setting : {2, 5}) {
      const turned still = run_turned(t.at(1), 1);
      REQUIRE(still.elements.size() >= 45);
      for (std::uint64_t seed = 1; seed != 25; ++seed) {
        CAPTURE(t.name, setting, seed);
        turned got = run_turned(t.at(setting), seed);
        turns += got.turns;
        CHECK((t.is_ordered() ? got.elements == still.elements : sorted(got.elements) == sorted(still.elements)));
        CHECK(got.errors == still.errors);
        if (got.places.empty()) continue;
        const auto& [place, from] = got.places[seed % got.places.size()];
        turned rest = run_turned(t.at(8 - setting), seed + 100, from);
        ++resumes;
        int64s expected(got.elements.begin() + static_cast<std::ptrdiff_t>(place), got.elements.end());
        CHECK((t.is_ordered() ? rest.elements == expected : sorted(rest.elements) == sorted(expected)));
      }
    }
  }
  CHECK(turns > 5'000);
  CHECK(resumes > 300);
  if (std::getenv("SLUICE_TEST_LOUD"))
    std::printf("%llu turns of knobs, %llu resumes\n", static_cast<unsigned long long>(turns),
                static_cast<unsigned long long>(resumes));
}

namespace {

template <class T, class Expected> task<std::size_t> count_mistakes(stream<T>& s, Expected expected) {
  std::size_t n = 0, mistakes = 0;
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    mistakes += expected(*x) != static_cast<int64>(n);
    ++n;
  }
  co_return mistakes + (n == 20'000 ? 0 : 1);
}

/// A plan with every kind of channel, over elements of some kind, on real threads, while a thread turns its knobs.
template <class As> std::size_t mistakes_while_turned(unsigned workers) {
  runtime rt({.workers = workers});
  auto made = [](int64 x) { return As::made(x); };
  auto again = [](auto x) { return As::made(As::number(x)); };
  auto inner = [again](int64 k) {
    return range(k * 2000 + 2000, {.start = k * 2000}) | map([](int64 x) { return As::made(x); }, {.parallelism = 2}) |
           map(again, {.parallelism = 3});
  };
  auto ds = range(10) | interleave(inner, {.cycle_length = 2, .block_length = 2000, .parallelism = 2}) | prefetch(50) |
            map(again, {.parallelism = 4}) | prefetch();
  (void)made;
  auto s = ds.iterate(rt);
  std::shared_ptr<site_table> sites = sites_of(s);
  std::atomic<bool> over{false};
  std::thread turning([&] {
    std::uint64_t state = 1;
    auto drawn = [&state](std::uint64_t below) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return (state >> 33) % below;
    };
    while (!over) {
      for (const site_report& site : sites->report())
        for (const knob_report& k : site.knobs)
          sites->set_knob(site.path, k.name, drawn(2) ? 1 : 1 + static_cast<int64>(drawn(9)));
      std::this_thread::yield();
    }
  });
  std::size_t mistakes = sync_wait(rt, count_mistakes(s, [](const auto& x) { return As::number(x); }));
  over = true;
  turning.join();
  sync_wait(rt, cleanup(std::move(s)));
  return mistakes;
}

}  // namespace

TEMPLATE_TEST_CASE("knobs turned by another thread, on one worker and on two: the same elements", "", test::as_text,
                   test::as_record, test::as_tensor, test::as_image, test::as_move_only, test::as_counting) {
  for (unsigned workers : {1u, 2u}) {
    CAPTURE(TestType::kName, workers);
    CHECK(mistakes_while_turned<TestType>(workers) == 0);
  }
}

namespace {

task<duration> drained_turning(runtime& rt, const dataset<std::string>& ds, int64 reads, std::size_t& n) {
  auto s = ds.iterate(rt);
  environment* env = co_await this_environment();
  auto sites = sites_of(s);
  time_point began{};
  for (;;) {
    auto x = co_await s.next();
    if (!x) break;
    if (n++ != 0) continue;
    for (const site_report& site : sites->report())
      if (!site.knobs.empty()) CHECK(sites->set_knob(site.path, "reads_in_flight", reads));
    began = env->time->now();
  }
  duration took = env->time->now() - began;
  auto end = cleanup(std::move(s));
  co_await end;
  co_return took;
}

}  // namespace

TEST_CASE("reads in flight follow their knob while a file is read") {
  simulation world(1);
  runtime rt(world, {.workers = 2});
  constexpr duration kDelay = std::chrono::milliseconds(1);
  auto made = std::make_unique<simulated_file_system>(
      world, simulated_io{.delay_min = kDelay, .delay_max = kDelay, .page_cache_hits = 0});
  made->put("f", file_bytes(file_format::lines, compression::none, some_elements(4'000)));
  set_files(rt, std::move(made));
  auto text = [](const auto& x) { return std::string(x.view()); };
  auto with = [&](int64 before, int64 after) {
    std::size_t n = 0;
    auto ds = lines("f", {.read_bytes = 4096, .reads_in_flight = before}) | map(text);
    duration took = sync_wait(rt, drained_turning(rt, ds, after, n));
    CHECK(n == 4'000);
    return took;
  };
  duration one = with(1, 1), eight = with(8, 8), raised = with(1, 8), lowered = with(8, 1);
  CHECK(eight * 4 < one);
  CHECK(raised < eight * 3 / 2);
  CHECK(lowered > one * 2 / 3);
}

TEST_CASE("a report has the inputs of each stage, and which knobs are free") {
  temporary_folder folder;
  const std::string path = folder.write("lines.txt", "a\nb\nc\n");
  runtime rt({.workers = 1});
  auto by_name = [](const std::vector<site_report>& all, std::string_view name, std::uint64_t number = 0) {
    for (const site_report& s : all)
      if (s.name == name && (s.number == number || number == 0)) return s;
    FAIL("no stage " << name);
    return site_report();
  };
  const std::string text =
      "zip(range(4) | map(it * 2, parallelism=autotune) | take(-1) | prefetch(3), range(9) | shuffle(2, seed=1)) "
      "| map(\"" +
      path + "\") | flat_map(lines | take(2)) | batch(2)";
  any_stream s = open_run(rt, parse_plan(text), {.seed = 1});
  auto read = [](any_stream& from) -> task<void> {
    while (auto b = co_await from.next_block({0, 1})) (void)b;
  };
  sync_wait(rt, read(s));
  const std::vector<site_report> all = sites_of(s)->report();
  using paths = std::vector<std::uint64_t>;
  CHECK(by_name(all, "batch").inputs == paths{by_name(all, "flat_map").path});
  CHECK(by_name(all, "flat_map").inputs == paths{all[2].path, by_name(all, "take").path});
  CHECK(all[2].inputs == paths{by_name(all, "zip").path});
  CHECK(by_name(all, "zip").inputs == paths{by_name(all, "prefetch").path, by_name(all, "shuffle").path});
  // take(-1) has no stage: its input stands for it.
  CHECK(by_name(all, "prefetch").inputs == paths{by_name(all, "map(it * 2)").path});
  CHECK(by_name(all, "map(it * 2)").knobs.at(0).is_free);
  CHECK_FALSE(by_name(all, "prefetch").knobs.at(0).is_free);
  sync_wait(rt, cleanup(std::move(s)));
}

TEST_CASE(
    "a knob that is not there, or of a stage that is not, is refused; a value out of bounds is taken to the nearest") {
  simulation world(1);
  runtime rt(world);
  auto s = (range(10) | map([](int64 x) { return x; }, {.parallelism = 2}) | prefetch(5)).iterate(rt);
  auto sites = sites_of(s);
  auto all = sites->report();
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "prefetch");
  REQUIRE(all[0].knobs.size() == 1);
  CHECK(all[0].knobs[0].name == "elements");
  CHECK(all[0].knobs[0].value == 5);
  REQUIRE(all[1].knobs.size() == 1);
  CHECK(all[1].knobs[0].value == 2);
  CHECK(all[2].knobs.empty());
  CHECK(sites->set_knob(all[1].path, "parallelism", 0));
  CHECK(sites->report()[1].knobs[0].value == 1);
  CHECK(sites->set_knob(all[1].path, "parallelism", 1'000'000));
  CHECK(sites->report()[1].knobs[0].value == all[1].knobs[0].most);
  CHECK(all[1].knobs[0].name == "parallelism");
  CHECK(all[1].knobs[0].least == 1);
  CHECK(all[1].knobs[0].most == 65'536);  // of the argument's type
  CHECK(all[0].knobs[0].most == 1 << 30);
  CHECK_FALSE(sites->set_knob(all[1].path, "elements", 3));
  CHECK_FALSE(sites->set_knob(all[2].path, "parallelism", 3));
  CHECK_FALSE(sites->set_knob(12345, "parallelism", 3));
  stream<int64> none;
  CHECK_THROWS_AS(sites_of(none), error);
}

namespace {

task<> pause() {
  auto wait = sleep_for(std::chrono::milliseconds(1));  // in a simulation: whatever can be made ahead is made by then
  co_await wait;
}

task<int64> counted_call(int& made, int64 x) {
  ++made;
  co_return x;
}

task<> take(stream<int64>& s, int n) {
  for (int i = 0; i != n; ++i) co_await s.next();
}

/// How many elements are made: with an element taken at the limit `first`, then at `second`, and after `taken` more.
struct made_ahead {
  int at_first = 0, at_second = 0, after = 0;
};
task<made_ahead> watched(runtime& rt, const dataset<int64>& ds, const int& made, const char* knob, int64 second,
                         int taken) {
  auto s = ds.iterate(rt);
  auto sites = sites_of(s);
  auto set = [&](int64 value) {
    bool any = false;
    for (const site_report& site : sites->report()) any |= sites->set_knob(site.path, knob, value);
    CHECK(any);
  };
  made_ahead m;
  auto one = take(s, 1);
  co_await one;
  auto first_pause = pause();
  co_await first_pause;
  m.at_first = made;
  set(second);
  auto second_pause = pause();
  co_await second_pause;
  m.at_second = made;
  auto more = take(s, taken);
  co_await more;
  auto third_pause = pause();
  co_await third_pause;
  m.after = made;
  auto end = cleanup(std::move(s));
  co_await end;
  co_return m;
}

}  // namespace

TEST_CASE(
    "a raised limit works ahead further at once; a lowered one drops nothing, and admits no more until it is reached") {
  struct limited {
    const char* knob;
    dataset<int64> (*at)(int& made, int64 limit);
  };
  const limited all[] = {
      {"elements",
       [](int& made, int64 limit) {
         return range(100'000) | map([&made](int64 x) { return ++made, x; }) | prefetch(limit);
       }},
      {"parallelism",
       [](int& made, int64 limit) {
         auto slow = [&made](int64 x) { return counted_call(made, x); };
         return range(100'000) | map(slow, {.parallelism = limit});
       }},
      {"parallelism",
       [](int& made, int64 limit) {
         auto slow = [&made](int64 x) { return counted_call(made, x); };
         return range(100'000) | map(slow, {.parallelism = limit, .order = sloppy});
       }},
  };
  for (const limited& l : all) {
    simulation world(3);
    world.decide_sharing([] { return true; });
    runtime rt(world, {.workers = 2});
    int made = 0;
    made_ahead raised = sync_wait(rt, watched(rt, l.at(made, 4), made, l.knob, 100, 10));
    CAPTURE(l.knob);
    CHECK(raised.at_first <= 8);
    CHECK(raised.at_second >= 95);
    CHECK(raised.at_second <= 110);
    made = 0;
    made_ahead lowered = sync_wait(rt, watched(rt, l.at(made, 100), made, l.knob, 4, 80));
    CHECK(lowered.at_first >= 95);
    CHECK(lowered.at_second == lowered.at_first);
    CHECK(lowered.after <= lowered.at_first + 8);  // what the consumer asked for beyond what it takes has left
    made = 0;
    made_ahead one = sync_wait(rt, watched(rt, l.at(made, 100), made, l.knob, 1, 200));
    CHECK(one.after >= 200);
    CHECK(one.after <= 204);
  }
}

}  // namespace sluice::lib::live_knobs_test
