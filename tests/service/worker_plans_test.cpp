// SPDX-License-Identifier: Apache-2.0
// The plans that workers run: as the rules of the consumer's run rewrite them, once for all splits of a shape.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "optimizer/sent_rules.hpp"
#include "service/client/sent_plan.hpp"
#include "service/host/worker_plans.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::worker_plans_test {
namespace {

dataset_info info_of_text(const std::string& text, std::uint64_t splits) {
  const node_ptr plan = parse_plan(text);
  dataset_info info = info_of_plan(text, *plan->type, fingerprint(*plan));
  info.splits = splits;
  return info;
}

std::vector<std::string> payloads_of(runtime& rt, const dataset_info& info) {
  const result<listed_payloads> listed = sync_wait(rt, list_round(info, 0, rt));
  REQUIRE(listed.ok());
  return listed->payloads;
}

split_run run_of(runtime& rt, const dataset_plan& plan, const std::string& payload, const sent_rules& rules,
                 const std::string& on_error = "stop") {
  read_request r;
  r.dataset = "d";
  r.payload = payload;
  r.on_error = on_error;
  r.rules = rules;
  result<split_run> run = sync_wait(rt, plan.plan_of(r, rt));
  REQUIRE(run.ok());
  return *run;
}

/// The text of a plan, with the rules that have produced each stage.
std::string with_rules_text(const node& n) {
  std::string text = n.inputs.empty() ? "" : with_rules_text(*n.inputs[0]) + " | ";
  text += stage_text(n);
  for (const std::string_view rule : rules_of(n)) text.append(" by ").append(rule);
  return text;
}

/// The distribute of a plan that runs, which ends with it.
const node& sending(const node& plan) {
  const node* n = &plan;
  while (!sends_input(*n)) n = n->inputs[0].get();
  return *n;
}

}  // namespace

TEST_CASE("a worker optimizes 100 splits once for each shape, with the forms that each would have by itself") {
  runtime rt({.workers = 1});
  const sent_rules all{.is_on = true, .rules = {"parallelize=on", "inject_prefetch=on"}};
  for (const std::string plan : {
           "range(1000) | map(it + 1) | filter(it % 3 == 0) | map(it * 2) | map(it - 1)",
           "range(2000) | skip(500) | map(it + 1) | take(1200) | map(it * 2) | take(1000)",
           "range(1000) | map(it + 1) | batch(2) | unbatch() | filter(random() < 0.5)",
       }) {
    INFO(plan);
    const dataset_info info = info_of_text(plan, 100);
    const std::vector<std::string> payloads = payloads_of(rt, info);
    CHECK(payloads.size() == 100);
    const dataset_plan known(info);
    for (const std::string on_error : {"stop", "skip"}) {
      for (const std::string& payload : payloads) {
        const split_run run = run_of(rt, known, payload, all, on_error);
        const optimize_options how = options_of(all, on_error == "skip" ? error_policy::skip : error_policy::stop);
        CHECK(with_rules_text(*run.plan.runs) == with_rules_text(*optimized_plan(run.plan.written, how)));
        if (run.before.runs)
          CHECK(with_rules_text(*run.before.runs) == with_rules_text(*optimized_plan(run.before.written, how)));
      }
      if (on_error == "stop") CHECK(known.optimized() <= 3);
    }
    CHECK(known.optimized() <= 9);
  }
}

TEST_CASE("splits of files share a form, whose names are those of each split") {
  runtime rt({.workers = 1});
  const std::string inner = "lines | map(it + \"!\") | map(it + \"?\")";
  const dataset_info info =
      info_of_text("list_files(\"tests/verbs/data/parts/?.csv\") | repeat(7) | interleave(" + inner + ")", 20);
  const std::vector<std::string> payloads = payloads_of(rt, info);
  CHECK(payloads.size() > 10);
  const dataset_plan known(info);
  for (const std::string& payload : payloads) {
    const split_run run = run_of(rt, known, payload, {.is_on = true});
    CHECK(with_rules_text(*run.plan.runs) ==
          with_rules_text(*optimized_plan(run.plan.written, options_of({.is_on = true}, error_policy::stop))));
  }
  CHECK(known.optimized() == 1);
}

TEST_CASE("a worker applies the rules of the consumer's run") {
  runtime rt({.workers = 1});
  const dataset_info info = info_of_text("range(100) | filter(it > 2) | map(it + 1) | map(it * 2)", 2);
  const dataset_plan known(info);
  const std::string payload = payloads_of(rt, info)[0];
  CHECK(with_rules_text(*run_of(rt, known, payload, {.is_on = true}).plan.runs).find("fuse_expressions") !=
        std::string::npos);
  const split_run fixed = run_of(rt, known, payload, {});
  CHECK(fixed.plan.runs == fixed.plan.written);
  const split_run some =
      run_of(rt, known, payload, {.is_on = true, .rules = {"fuse_expressions=off", "no_such_rule=on"}});
  CHECK(with_rules_text(*some.plan.runs).find("fuse_expressions") == std::string::npos);
}

TEST_CASE("the stages upstream of distribute stay as written, and the rules in force there are sent") {
  const std::string upstream = "range(9) | map(it + 1) | take(5) | map(it * 2) | take(4) | distribute(workers=2)";
  auto sent = [&](const std::string& downstream, const optimize_options& o) {
    const node_ptr runs = optimized_plan(parse_plan(upstream + downstream), o);
    CHECK(plan_text(sending(*runs)) == upstream);
    return rules_of_input(sending(*runs));
  };
  CHECK(sent("", {}) == sent_rules{.is_on = true});
  CHECK(sent("", {.rules = rule_choice().with("parallelize").without("push_take"), .trust = true}) ==
        sent_rules{.is_on = true, .rules = {"push_take=off", "parallelize=on"}, .trusts = true});
  CHECK(sent("", {.rules = rule_choice::none()}) == sent_rules());
  CHECK(sent("", {.rules = rule_choice::none().with("push_take")}) == sent_rules{.rules = {"push_take=on"}});
  CHECK(sent(" | map(it) | with_options(optimize=false)", {}) == sent_rules());
  CHECK(sent(" | with_options(rules=[\"push_take=off\"], trust=true)", {}) ==
        sent_rules{.is_on = true, .rules = {"push_take=off"}, .trusts = true});
  for (const rule_choice& c : {rule_choice(), rule_choice().with("parallelize").without("push_take"),
                               rule_choice::none(), rule_choice::none().with("push_take")})
    CHECK(options_of(sent("", {.rules = c}), error_policy::stop).rules == c);
}

}  // namespace sluice::lib::worker_plans_test
