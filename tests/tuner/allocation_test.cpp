// SPDX-License-Identifier: Apache-2.0
// The tuner's model, by rows: tests/tuner/allocation.tsv (measured figures, values, the reason of the last stage with a
// knob) and tests/tuner/what_if.tsv (figures, changes and their gains).
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <fstream>

#include <catch2/catch.hpp>

#include "tuner/figures_text.hpp"

namespace sluice::lib::allocation_test {
namespace {

using namespace test;

template <class Check> std::size_t each_row(const std::string& path, Check check) {
  std::ifstream file(path);
  REQUIRE(file);
  std::size_t rows = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    const std::vector<std::string> columns = absl::StrSplit(line, '\t');
    INFO(path << ":" << number << ": " << line);
    check(columns);
    ++rows;
  }
  return rows;
}

std::string values_of(const allocation& a) {
  std::string text;
  for (auto v = a.settings.rbegin(); v != a.settings.rend(); ++v)
    absl::StrAppend(&text, text.empty() ? "" : " ", v->stage, "=", v->value);
  return text;
}

}  // namespace

TEST_CASE("the model allocates knobs from measured figures, with a reason for each") {
  const std::size_t rows = each_row("tests/tuner/allocation.tsv", [](const std::vector<std::string>& columns) {
    REQUIRE(columns.size() == 4);
    const run_text run = read_run(columns[0]);
    const allocation a = allocate(run.measured, run.limits);
    CHECK(values_of(a) == columns[1]);
    CHECK((a.rate ? absl::StrFormat("%.4g/s", a.rate) : "-") == columns[2]);
    REQUIRE_FALSE(a.settings.empty());
    CHECK(a.settings.front().reason == columns[3]);
  });
  CHECK(rows >= 20);
}

TEST_CASE("an allocation that is applied asks for no other one") {
  each_row("tests/tuner/allocation.tsv", [](const std::vector<std::string>& columns) {
    run_text run = read_run(columns[0]);
    for (int round = 0; round != 3; ++round) {
      const allocation a = allocate(run.measured, run.limits);
      std::size_t next = 0;
      for (stage_figures& s : run.measured.stages) {
        s.limited = -1;  // with the new value, which is not measured yet
        s.starved = s.read_wait = 0;
        for (tunable_knob& k : s.knobs) k.value = a.settings[next++].value;
      }
    }
    const std::string before = values_of(allocate(run.measured, run.limits));
    const allocation a = allocate(run.measured, run.limits);
    for (const knob_value& v : a.settings) CHECK(v.value == v.was);
    CHECK(before == values_of(a));
  });
}

TEST_CASE("the model says what a change would gain") {
  const std::size_t rows = each_row("tests/tuner/what_if.tsv", [](const std::vector<std::string>& columns) {
    REQUIRE(columns.size() == 2);
    const run_text run = read_run(columns[0]);
    std::string text;
    for (const what_if& w : try_changes(run.measured, run.limits))
      absl::StrAppend(&text, text.empty() ? "" : ", ", w.change, absl::StrFormat(" %+.0f %%", 100 * w.gain));
    CHECK(text == columns[1]);
  });
  CHECK(rows >= 4);
}

TEST_CASE("the law of scaling is found from two or three settings") {
  auto point = [](const scaling& law, double n) { return scaling_point{n, 0.1 * law.factor(n)}; };
  const scaling contended{.sigma = 0.05, .kappa = 0};
  const scaling found = fit_scaling({point(contended, 4), point(contended, 16)});
  CHECK(std::abs(found.sigma - 0.05) < 0.01);
  CHECK(found.kappa == 0);
  const scaling retrograde{.sigma = 0.02, .kappa = 0.001};
  const scaling third = fit_scaling({point(retrograde, 4), point(retrograde, 16), point(retrograde, 48)});
  CHECK(std::abs(third.factor(32) / retrograde.factor(32) - 1) < 0.1);
  CHECK(third.useful < 48);
  const scaling ideal = fit_scaling({{4, 0.1}, {32, 0.1}});
  CHECK(ideal.sigma == 0);
  CHECK(ideal.useful > 1000);
  // A server that gives ten calls' worth in all: 40 calls take four times as long each.
  const scaling limited = fit_scaling({{8, 0.1}, {40, 0.4}});
  CHECK(limited.useful >= 10);
  CHECK(limited.useful <= 12);
  CHECK(fit_scaling({{8, 0.1}}).useful > 1000);
  // Four calls may have seen none of the slow ones that 16 calls have seen: no law. The same times of many calls show one.
  CHECK(fit_scaling({{2, 0.04, 0, 4}, {8, 0.072, 0.06, 16}}).useful > 1000);
  CHECK(fit_scaling({{2, 0.04, 0.01, 400}, {8, 0.072, 0.06, 1600}}).useful < 10);
  CHECK(fit_scaling({}).useful > 1000);
}

}  // namespace sluice::lib::allocation_test
