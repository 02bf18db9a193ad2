// SPDX-License-Identifier: Apache-2.0
// The scenarios of bench/tuner on simulated cores: the tuner against the best setting of a grid, and against other
// algorithms behind the same interface. SLUICE_TEST_LOUD=1 prints the table, SLUICE_TEST_SCENARIO=NAME runs only one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "tuner/baselines.hpp"
#include "tuner/scenario.hpp"

namespace sluice::lib::scenarios_test {
namespace {

using namespace test;

bool is_loud() { return std::getenv("SLUICE_TEST_LOUD") != nullptr; }

void print(const scenario& s, unsigned cores, const char* who, const scenario_outcome& o,
           const scenario_outcome& best) {
  if (!is_loud()) return;
  std::string values;
  for (std::int64_t v : o.values) values += " " + std::to_string(v);
  std::printf(
      "%-26s %2u cores  %-14s %8.1f/s  %5.2f of the grid's best  values%s (%lld, best %lld)  %llu steps, %.1f s\n",
      s.name.c_str(), cores, who, o.rate, o.rate / best.rate, values.c_str(), static_cast<long long>(o.sum),
      static_cast<long long>(best.sum), static_cast<unsigned long long>(o.steps), o.seconds_to_95);
  for (const std::string& reason : o.reasons) std::printf("    %s\n", reason.c_str());
}

/// The elements that its calls may hold. A setting that is faster than all of the grid holds as many more.
double memory_at_rate(const scenario_outcome& tuned, const scenario_outcome& best) {
  return static_cast<double>(tuned.sum) * std::min(1.0, best.rate / tuned.rate);
}

/// Values are whole numbers, so each may be one more. A parallelism of one has no knob.
double memory_allowed(const scenario& s, const scenario_outcome& best) {
  const auto knobs = static_cast<double>(s.knobs());
  return s.memory * std::max(static_cast<double>(best.sum), knobs) + knobs;
}

void compare_baselines(const scenario& s, unsigned cores, const scenario_outcome& best) {
  for (const baseline& b : all_baselines()) print(s, cores, b.name, run_with(s, cores, b.make), best);
}

}  // namespace

TEST_CASE("scenarios: the tuner reaches the share of the best setting of a grid that each file names", "[.scenarios]") {
  const std::vector<scenario> all = all_scenarios();
  CHECK(all.size() >= (std::getenv("SLUICE_TEST_SCENARIO") ? 1 : 30));
  for (const scenario& s : all) {
    for (unsigned cores : is_loud() ? std::vector<unsigned>{1, 2, 8, 64} : std::vector<unsigned>{1, 8}) {
      const scenario_outcome tuned = run_tuned(s, cores), best = best_of_grid(s.at_the_end(), cores);
      const scenario_outcome untuned = run_with(s, cores, no_policy);
      CAPTURE(s.name, cores, tuned.values, best.values, tuned.rate, best.rate, untuned.rate);
      CHECK(tuned.rate >= s.reaches * best.rate);
      CHECK(tuned.rate >= s.keeps * untuned.rate);
      if (s.reaches > 0) CHECK(memory_at_rate(tuned, best) <= memory_allowed(s, best));
      print(s, cores, "tuner", tuned, best);
      print(s, cores, "none", untuned, best);
      if (is_loud()) compare_baselines(s, cores, best);
    }
  }
}

TEST_CASE("scenarios: servers that do some calls at a time get about that number, after a few steps") {
  struct row {
    const char* name;
    double rate;
    std::int64_t most;  ///< of all calls: 10 are enough for the first server, 9 for the two
  };
  for (const row& r : {row{"server_of_ten", 200, 14}, row{"two_servers", 100, 14}}) {
    const scenario s = read_scenario(std::string("bench/tuner/") + r.name + ".scenario");
    for (unsigned cores : {1u, 2u, 8u, 64u}) {
      const scenario_outcome tuned = run_tuned(s, cores);
      CAPTURE(s.name, cores, tuned.values, tuned.rate, tuned.steps, tuned.reasons);
      CHECK(tuned.rate >= 0.97 * r.rate);
      CHECK(tuned.sum <= r.most);
      CHECK(tuned.steps <= 6);
    }
  }
}

TEST_CASE("scenarios: rare slow calls get the calls beside them after at most three steps, none of which is undone") {
  const scenario s = read_scenario("bench/tuner/long_tail.scenario");
  for (unsigned cores : {1u, 2u, 8u, 64u}) {
    const scenario_outcome tuned = run_tuned(s, cores);
    CAPTURE(cores, tuned.values, tuned.rate, tuned.steps, tuned.seconds_to_95, tuned.reasons);
    CHECK(tuned.rate >= 0.97 * 100);
    CHECK(tuned.steps <= 3);
    CHECK(tuned.seconds_to_95 <= 8);  // of virtual time; a step that is undone keeps its value for 20 s
  }
}

// Minutes of real time. `./dev bench tuner` reads the lines, and compares the rates with goals: a test must not depend on them.
TEST_CASE("scenarios: on this machine, a run with a tuner and one with the best setting deliver all elements",
          "[.real]") {
  constexpr unsigned kWorkers = 2;
  constexpr std::int64_t kElements = 1500;
  std::size_t number = 0;
  for (scenario s : all_scenarios()) {
    static const std::set<std::string> kReal = {"quiz",           "slow_consumer", "sequential_bound",
                                                "jitter",         "three_calls",   "long_tail",
                                                "server_of_four", "jitter_of_two", "one_in_ten_is_slow"};
    if (!kReal.contains(s.name)) continue;
    ++number;
    const scenario_outcome best = best_of_grid(s, kWorkers);
    s.elements = std::min(s.elements, kElements);
    const scenario_outcome fixed = run_really(s, kWorkers, best.values), tuned = run_really(s, kWorkers, {});
    CAPTURE(s.name);
    CHECK(fixed.elements == s.elements);
    CHECK(tuned.elements == s.elements);
    std::printf("real\t%s\t%.2f\t%.2f\t%lld\t%lld\t%llu\t%.2f\n", s.name.c_str(), fixed.rate, tuned.rate,
                static_cast<long long>(fixed.sum), static_cast<long long>(tuned.sum),
                static_cast<unsigned long long>(tuned.steps), tuned.seconds_to_95);
    std::fflush(stdout);
  }
  CHECK(number >= (std::getenv("SLUICE_TEST_SCENARIO") ? 1 : 8));
}

}  // namespace sluice::lib::scenarios_test
