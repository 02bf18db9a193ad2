// SPDX-License-Identifier: Apache-2.0
// The plan that a run leaves to later ones: the sizes of its elements as measured, which the optimizer then uses.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/simulation.hpp"
#include "sluice/sluice.hpp"
#include "sluice/tuner/tuned_plan.hpp"

namespace sluice::lib::tuned_plan_test {
namespace {

struct outcome {
  node_ptr tuned;
  std::vector<std::string> texts;
  std::size_t shuffled_bytes = 0;  ///< the most memory that the shuffle has held
};

task<void> read_texts(any_stream& s, std::vector<std::string>& to) {
  for (;;) {
    auto rows = co_await s.next_block({.elements = 64});
    if (!rows) break;
    for (std::size_t i = 0; i != rows.size(); ++i) to.push_back(*reinterpret_cast<const std::string*>(rows.at(i)));
  }
}

outcome run_of(const node_ptr& plan) {
  simulation world(3);
  runtime rt(world);
  any_stream s = open_run(rt, plan, {.seed = 1, .tune = true});
  outcome o;
  sync_wait(rt, read_texts(s, o.texts));
  const run_report r = s.report();
  for (const site_report& site : r.sites)
    for (const ledger_line_report& l : site.memory)
      if (site.name == "shuffle") o.shuffled_bytes += l.peak_bytes;
  o.tuned = tuned_plan(plan, r.tuning, r.sites);
  sync_wait(rt, cleanup(std::move(s)));
  return o;
}

/// Shuffled texts of about this length, which begin with different numbers.
std::string texts_of(std::size_t bytes) {
  return "range(2000) | map(string(it) + \"" + std::string(bytes, 'x') + "\") | shuffle(500)";
}

}  // namespace

TEST_CASE("a tuned plan states measured sizes of a map after a buffer, which then moves, with equal elements") {
  const node_ptr plan = parse_plan(texts_of(4000) + " | map(it[:100])");
  CHECK(optimize(plan)->plan == plan);  // both types are texts, so they do not show that the results are smaller
  const outcome first = run_of(plan);
  const std::string text = plan_text(*first.tuned);
  const std::string last = text.substr(text.rfind('|'));
  CHECK(last.starts_with("| map(it[:100], measured_bytes=[40"));
  CHECK(fingerprint(*first.tuned) == fingerprint(*plan));
  CHECK(same_plan(*parse_plan(text), *first.tuned));

  const auto made = optimize(first.tuned);
  const std::string runs = plan_text(*made->plan);
  CHECK(runs.substr(runs.rfind('|')) == "| shuffle(500)");
  REQUIRE(made->reasons.size() == 1);
  CHECK(made->reasons[0].rule == "shrink_before_buffers");
  CHECK(made->reasons[0].text.find(" moves upstream of shuffle(500): elements of 40") != std::string::npos);

  const outcome second = run_of(first.tuned);
  CHECK(second.texts == first.texts);
  CHECK(second.shuffled_bytes * 4 < first.shuffled_bytes);
  // The map that has moved reads large elements still, so the next tuned plan moves it, too.
  const std::string again = plan_text(*second.tuned);
  CHECK(again.substr(again.rfind('|')).starts_with("| map(it[:100], measured_bytes=[40"));
}

TEST_CASE("a tuned plan states no sizes of results that are nearly as large, and replaces those that the plan states") {
  const node_ptr plan = parse_plan(texts_of(80) + " | map(it[:70])");
  CHECK(plan_text(*run_of(plan).tuned).find("measured_bytes") == std::string::npos);
  const node_ptr stated = parse_plan(texts_of(80) + " | map(it[:70], measured_bytes=[1000, 10])");
  CHECK(optimize(stated)->plan != stated);
  const node_ptr tuned = run_of(stated).tuned;
  CHECK(plan_text(*tuned).find(", measured_bytes=[1") != std::string::npos);
  CHECK(plan_text(*tuned).find(", measured_bytes=[1000, 10]") == std::string::npos);
  CHECK(optimize(tuned)->plan == tuned);  // the sizes of this run say that it should not move
  CHECK(plan_text(*tuned_plan(stated, {})) == plan_text(*stated));
}

}  // namespace sluice::lib::tuned_plan_test
