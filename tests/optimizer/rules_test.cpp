// SPDX-License-Identifier: Apache-2.0
// The tables of the rules, tests/optimizer/RULE.tsv: a plan, what the rule alone does to it, and the plan that it becomes
// or the reason that `sluice explain` prints. The plans also run, with and without rules: tests/runners/rewritten_test.cpp.
#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "engine/lowering/types.hpp"
#include "plan/node_history.hpp"
#if SLUICE_HAVE_PARQUET
#include "sluice/io/arrow_parquet.hpp"
#endif
#include "sluice/io/parquet_files.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/range.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::rules_test {
namespace {

#if SLUICE_HAVE_PARQUET
const bool has_arrow = (register_parquet(), true);
#endif

optimize_options only(std::string_view rule) {
  rule_choice one;
  for (const rule_info& r : optimizer_rules())
    if (r.name != rule) one = one.without(r.name);
    else if (r.must_be_chosen) one = one.with(r.name);
  return {.rules = one};
}

/// Returns true if `text` is `pattern`, in which "…" stands for any characters.
bool matches(std::string_view text, std::string_view pattern) {
  const std::string_view any = "…";
  const std::size_t at = pattern.find(any);
  if (at == pattern.npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, at))) return false;
  const std::string_view rest = pattern.substr(at + any.size());
  for (std::size_t i = at; i <= text.size(); ++i)
    if (matches(text.substr(i), rest)) return true;
  return false;
}

bool is_made_by(const node& n, std::string_view rule) {
  for (std::string_view r : rules_of(n))
    if (r == rule) return true;
  for (const node_ptr& input : n.inputs)
    if (is_made_by(*input, rule)) return true;
  return false;
}

/// Returns the stages that several nodes run as: "map(it + 1) | map(it * 2); filter(it) | map(it)".
std::string groups_of(const node& n) {
  std::string groups;
  for (const node_ptr& input : n.inputs) {
    const std::string upstream = groups_of(*input);
    groups += (groups.empty() || upstream.empty() ? "" : "; ") + upstream;
  }
  if (!n.history || !n.history->joins_input) return groups;
  const node& in = *n.inputs[0];
  if (in.history && in.history->joins_input) return groups + " | " + stage_text(n);
  return groups + (groups.empty() ? "" : "; ") + stage_text(in) + " | " + stage_text(n);
}

/// Returns the filter that runs before its source reads the elements.
std::string selecting_filter(const node& n) {
  if (n.history && n.history->selects_by_number) return stage_text(n);
  return n.inputs.empty() ? std::string() : selecting_filter(*n.inputs[0]);
}

/// Returns the elements that filters have their sources skip: "[0, 4) [8, 10)".
std::string skipped_runs(const node& n) {
  std::string runs;
  for (const node_ptr& input : n.inputs) runs += skipped_runs(*input);
  if (!n.history) return runs;
  for (const element_run& r : n.history->excluded)
    runs += (runs.empty() ? "[" : " [") + std::to_string(r.first) + ", " + std::to_string(r.first + r.count) + ")";
  return runs;
}

/// Returns the shuffles that read the next epoch of a repeat before it begins.
std::string overlapping_shuffles(const node& n) {
  std::string all;
  auto add = [&all](const std::string& more) { all += (all.empty() || more.empty() ? "" : "; ") + more; };
  for (const node_ptr& input : n.inputs) add(overlapping_shuffles(*input));
  if (n.op->name == "shuffle" && n.history && n.history->overlaps_epochs) add(stage_text(n));
  return all;
}

struct line {
  std::string plan, what, expected;
};

line parsed(const std::string& text) {
  const std::size_t first = text.find('\t'), second = text.find('\t', first + 1);
  REQUIRE(second != text.npos);
  return {text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

void check(const std::string& rule, const line& l) {
  optimize_options o = only(rule);
  const bool skips = l.what.ends_with(" under skip");
  if (skips) o.on_error = error_policy::skip;
  const std::string what = l.what.substr(0, l.what.find(' '));
  node_ptr plan = parse_plan(l.plan);
  auto made = optimize(plan, o);
  if (what == "becomes") {
    CHECK(plan_text(*made->plan) == l.expected);
    CHECK(same_plan(*parse_plan(plan_text(*made->plan)), *made->plan));
    CHECK((made->plan == plan || is_made_by(*made->plan, rule) || l.plan.find("interleave") != l.plan.npos ||
           l.plan.find("group_by") != l.plan.npos));
  } else if (what == "selects") {
    CHECK(plan_text(*made->plan) == plan_text(*plan));
    CHECK(selecting_filter(*made->plan) == l.expected);
  } else if (what == "skips") {
    CHECK(plan_text(*made->plan) == plan_text(*plan));
    CHECK(skipped_runs(*made->plan) == l.expected);
  } else if (what == "overlaps") {
    CHECK(plan_text(*made->plan) == plan_text(*plan));
    CHECK(overlapping_shuffles(*made->plan) == l.expected);
  } else if (what == "fuses") {
    CHECK(plan_text(*made->plan) == plan_text(*plan));
    CHECK(groups_of(*made->plan) == l.expected);
  } else {
    REQUIRE(what == "stays");
    CHECK(plan_text(*made->plan) == plan_text(*plan));
    CHECK(made->plan == plan);
    std::string reasons;
    for (const rule_note& note : made->refused) {
      CHECK(note.rule == rule);
      reasons += note.text;
    }
    CHECK((matches(reasons, l.expected) ? l.expected : reasons) == l.expected);
  }
  CHECK(optimize(plan, o)->plan == made->plan);  // the second call returns the plan of the first
  CHECK(fingerprint(*plan) == fingerprint(*parse_plan(l.plan)));
}

}  // namespace

TEST_CASE("each rule does what its table says") {
  for (const rule_info& r : optimizer_rules()) {
    const std::string file = "tests/optimizer/" + std::string(r.name) + ".tsv";
    INFO(file);
    std::ifstream in(file);
    REQUIRE(in);
    std::size_t becomes = 0, stays = 0, number = 0;
    bool lacks_library = false;
    for (std::string text; std::getline(in, text) && !lacks_library;) {
      ++number;
      lacks_library = text == "# needs parquet" && !has_parquet();
      if (text.empty() || text[0] == '#') continue;
      INFO(file << ":" << number << ": " << text);
      const line l = parsed(text);
      check(std::string(r.name), l);
      (l.what.starts_with("stays") ? stays : becomes) += 1;
    }
    CHECK((lacks_library || becomes != 0));
    CHECK((lacks_library || stays != 0));
  }
}

TEST_CASE("each table belongs to a rule") {
  std::set<std::string> names{"advice.tsv"};
  for (const rule_info& r : optimizer_rules()) names.insert(std::string(r.name) + ".tsv");
  for (const auto& file : std::filesystem::directory_iterator("tests/optimizer"))
    if (file.path().extension() == ".tsv") CHECK(names.contains(file.path().filename().string()));
}

TEST_CASE("each operator that states what it does with members has a plan that prune_columns changes") {
  std::ifstream in("tests/optimizer/prune_columns.tsv");
  std::string changed;
  for (std::string text; std::getline(in, text);)
    if (text.find("\tbecomes\t") != text.npos) changed += text.substr(0, text.find('\t')) + "\n";
  for (const op_info* op : operators()) {
    if (op->facts.members == member_use::whole) continue;
    INFO(op->name);
    const std::string stage = "| " + std::string(op->name);
    CHECK((changed.find(stage + "(") != changed.npos || changed.find(stage + " ") != changed.npos));
  }
}

TEST_CASE("an operator takes part in prune_columns by its facts alone") {
  const node_ptr rows = parse_plan("range(9) | map({a: it, b: double(it)})");
  auto runs_as = [&](const op_info& op) {
    node last = *parse_plan("range(9) | map({a: it, b: double(it)}) | map(a)");
    last.inputs = {make_stage(op, arguments::of(no_arguments{}), rows)};
    return plan_text(*optimize(make_node(std::move(last)), only("prune_columns"))->plan);
  };
  static constexpr op_info passing{
      .name = "passing", .doc = "passes elements", .type = same_type, .facts = {.members = member_use::passed}};
  static constexpr op_info unknown{.name = "unknown", .doc = "states nothing", .type = same_type};
  CHECK(runs_as(passing) == "range(9) | map({a: it}) | passing | map(a)");
  CHECK(runs_as(unknown) == "range(9) | map({a: it, b: double(it)}) | unknown | map(a)");
}

TEST_CASE("the optimizer leaves the input of a stage that sends it as written, by its facts alone") {
  auto runs_as = [&](const op_info& op) {
    const node_ptr taken = parse_plan("range(9) | take(5) | take(3)");
    return plan_text(*optimize(make_stage(op, arguments::of(no_arguments{}), taken))->plan);
  };
  static constexpr op_info sending{
      .name = "sending", .doc = "sends its input", .type = same_type, .facts = {.sends_input = true}};
  static constexpr op_info local{.name = "local", .doc = "states nothing", .type = same_type};
  CHECK(runs_as(sending) == "range(9) | take(5) | take(3) | sending");
  CHECK(runs_as(local) == "range(9) | take(3) | local");
}

TEST_CASE("a plan gets the advice of its table, with and without rules") {
  std::ifstream in("tests/optimizer/advice.tsv");
  REQUIRE(in);
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') continue;
    INFO(text);
    const line l = parsed(text);
    for (const rule_choice& rules : {rule_choice(), rule_choice::none()}) {
      std::string kinds, texts;
      auto made = optimize(parse_plan(l.plan), {.rules = rules});
      for (const rule_note& note : made->advice) {
        kinds += (kinds.empty() ? "" : ", ") + std::string(note.rule);
        texts += (texts.empty() ? "" : "; ") + note.text;
      }
      CHECK(kinds == l.what);
      CHECK((matches(texts, l.expected) ? l.expected : texts) == l.expected);
    }
  }
}

TEST_CASE("advice names functions that rules know nothing about, and not those that are declared as pure") {
  const auto advice_about = [](const node_ptr& plan) {
    auto made = optimize(plan);
    return made->advice.empty() ? std::string() : std::string(made->advice.front().rule);
  };
  CHECK(advice_about((range(3) | map([](std::int64_t x) { return x + 1; })).plan()) == "unknown_function");
  CHECK(advice_about((range(3) | map(fn("one_more", 1, [](std::int64_t x) { return x + 1; }, {.pure = true}))).plan())
            .empty());
}

TEST_CASE("no rule acts if all are off, and an unknown rule is an error that names the others") {
  node_ptr plan = parse_plan("range(9) | take(-1) | take(3)");
  CHECK(optimize(plan, {.rules = rule_choice::none()})->plan == plan);
  CHECK(plan_text(*optimize(plan, {.rules = rule_choice::none().with("remove_noops")})->plan) == "range(9) | take(3)");
  CHECK(optimize(plan, {.rules = rule_choice().without("remove_noops").without("merge_takes")})->plan == plan);
  CHECK_THROWS_WITH(rule_choice().without("push_tke"),
                    Catch::Contains("push_tke is no rule; the rules are remove_noops, "));
}

TEST_CASE("a rule that must be chosen acts where the run or the plan names it, and the outermost decides") {
  auto runs_as = [](const char* plan, const rule_choice& rules = {}) {
    return plan_text(*optimize(parse_plan(plan), {.rules = rules})->plan);
  };
  const char* chosen = "range(9) | with_options(rules=[\"inject_prefetch=on\"])";
  CHECK(runs_as("range(9)") == "range(9)");
  CHECK(runs_as("range(9)", rule_choice().with("inject_prefetch")) == "range(9) | prefetch");
  CHECK(runs_as(chosen) == "range(9) | prefetch | with_options(rules=[\"inject_prefetch=on\"])");
  CHECK(runs_as(chosen, rule_choice().without("inject_prefetch")) == chosen);
  CHECK(runs_as(chosen, rule_choice::none()) == chosen);
  const std::string off = std::string(chosen) + " | with_options(rules=[\"inject_prefetch=off\"])";
  CHECK(runs_as(off.c_str()) == off);
  // Stages downstream of the call keep what is in force there.
  CHECK(runs_as("range(9) | map(it + 1) | with_options(rules=[\"parallelize=on\"]) | map(it + 2)") ==
        "range(9) | map(it + 1, parallelism=autotune) | with_options(rules=[\"parallelize=on\"]) | map(it + 2)");
  CHECK_THROWS_WITH(runs_as("range(9) | with_options(rules=[\"push_tke=off\"])"),
                    Catch::Contains("push_tke is no rule; the rules are remove_noops, "));
}

TEST_CASE("a plan is optimized once for each choice of rules and each policy") {
  node_ptr plan = parse_plan("range(9) | map(it + 1) | take(3)");
  node_ptr first = optimize(plan)->plan;
  CHECK(first != plan);
  CHECK(optimize(plan)->plan == first);
  CHECK(optimize(plan, {.on_error = error_policy::skip})->plan == plan);
  CHECK(optimize(plan, {.rules = rule_choice().without("push_take")})->plan == plan);
  CHECK(optimize(plan)->plan == first);
  CHECK(optimize(parse_plan("range(9) | map(it + 1) | take(3)"))->plan != first);
}

TEST_CASE("a removed node stays in the history of the node upstream of it") {
  node_ptr made = optimize(parse_plan("range(9) | repeat(1) | take(8) | map(it) | take(5)"))->plan;
  CHECK(plan_text(*made) == "range(9) | take(5)");
  std::string removed;
  for (const node_ptr& n : removed_after(*made->inputs[0])) removed += stage_text(*n) + " ";
  CHECK(removed == "repeat(1) take(8) map(it) ");
}

TEST_CASE("nodes that two plans read are rewritten once, and a shared input keeps both its readers exact") {
  node_ptr shared = parse_plan("range(9) | map(10 / (it - 3)) | take(5)");
  node_ptr skips = make_stage(*find_op("take"), parse_plan("range(1) | take(7)")->arguments, shared);
  node both = *parse_plan("zip(range(9) | ignore_errors(), range(9))");
  node ignoring = *both.inputs[0];
  ignoring.inputs = {shared};
  both.inputs = {make_node(std::move(ignoring)), skips};
  node_ptr plan = make_node(std::move(both));
  // One of the readers drops bad elements, so the take stays; it has one rewritten form for both.
  node_ptr made = optimize(plan)->plan;
  CHECK(plan_text(*made).find("map(10 / (it - 3)) | take(5) | ignore_errors") != std::string::npos);
}

}  // namespace sluice::lib::rules_test
