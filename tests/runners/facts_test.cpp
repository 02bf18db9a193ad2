// SPDX-License-Identifier: Apache-2.0
// The facts that operators and functions state (plan/facts.hpp), compared with what the plans of all rows yield: the
// last stage of each plan runs again over a part of its input, over other inputs, and with another seed.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "runners/row_run.hpp"
#include "sluice/op/map.hpp"
#include "sluice/op/range.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::facts_test {

using namespace test;
using texts = std::vector<std::string>;

constexpr std::size_t kElementsMax = 200;

struct outcome {
  texts elements;
  std::string end;
  bool is_complete() const { return end == "end"; }
};

outcome outcome_of(runtime& rt, const node_ptr& plan, std::uint64_t seed = 1) {
  row_outcome o = run_on(rt, plan, {.elements_max = kElementsMax, .seed = seed});
  return {std::move(o.elements), std::move(o.end)};
}

/// Returns true if `part` is `whole` without some of its elements.
bool is_subsequence(const texts& part, const texts& whole) {
  auto at = whole.begin();
  for (const std::string& one : part) {
    at = std::find(at, whole.end(), one);
    if (at == whole.end()) return false;
    ++at;
  }
  return true;
}

bool is_submultiset(const texts& part, const texts& whole) {
  std::multiset<std::string> left(whole.begin(), whole.end());
  for (const std::string& one : part) {
    auto at = left.find(one);
    if (at == left.end()) return false;
    left.erase(at);
  }
  return true;
}

/// Returns a copy of the stage with another input.
node_ptr over(const node& stage, const node_ptr& input) {
  node copy = stage;
  copy.inputs = {input};
  return make_node(std::move(copy));
}

/// Returns the plan with a verb of plan text after it.
node_ptr then(const node_ptr& plan, const std::string& verb) { return parse_plan(plan_text(*plan) + " | " + verb); }

/// Checks the number, the values and the order of the outputs.
std::string mistake_in_outputs(const stage_facts& f, const outcome& in, const outcome& out) {
  if (!in.is_complete() || !out.is_complete()) return {};
  if (f.outputs == output_count::one_per_input && out.elements.size() != in.elements.size())
    return "one_per_input, but " + std::to_string(in.elements.size()) + " elements become " +
           std::to_string(out.elements.size());
  if (f.outputs == output_count::at_most_one_per_input && out.elements.size() > in.elements.size())
    return "at_most_one_per_input, but there are more outputs than inputs";
  const bool is_part = f.outputs == output_count::one_per_input || f.outputs == output_count::at_most_one_per_input;
  if (!f.forwards || !is_part) return {};
  if (f.keeps_order && !is_subsequence(out.elements, in.elements)) return "forwards and keeps_order do not hold";
  if (!is_submultiset(out.elements, in.elements)) return "forwards does not hold";
  return {};
}

/// A stage that does not use the place of an element yields for all inputs what it yields for the first, then for the others.
std::string mistake_in_place(runtime& rt, const node& stage, const outcome& in, const outcome& out) {
  const std::size_t half = in.elements.size() / 2;
  if (!in.is_complete() || !out.is_complete() || half == 0) return {};
  texts joined;
  for (const char* part : {"take(", "skip("}) {
    outcome o = outcome_of(rt, over(stage, then(stage.inputs[0], part + std::to_string(half) + ")")));
    joined.insert(joined.end(), o.elements.begin(), o.elements.end());
  }
  return joined == out.elements ? "" : "uses_place is false, but the parts of the input yield other elements";
}

/// Returns true if no stage upstream draws or is live.
bool is_the_same_each_run(const node& stage) {
  return std::all_of(stage.inputs.begin(), stage.inputs.end(), [](const node_ptr& n) {
    const stage_facts f = facts_of(*n);
    return !f.is_live && !f.draws && is_the_same_each_run(*n);
  });
}

/// Returns true if a stage upstream has the operator, so that an error with its name may be that stage's.
bool has_above(const node& stage, const op_info& op) {
  return std::any_of(stage.inputs.begin(), stage.inputs.end(),
                     [&](const node_ptr& n) { return n->op == &op || has_above(*n, op); });
}

/// `noted`: counts the facts that were compared.
std::string mistake_of(runtime& rt, runtime& two, const row& r, std::set<std::string>& noted) {
  node_ptr plan = plan_of(r);
  const node& stage = *plan;
  const stage_facts f = facts_of(stage);
  outcome out = outcome_of(rt, plan);
  if (!out.is_complete() && out.end != "..." && !f.may_fail && !has_above(stage, *stage.op) &&
      out.end.find(": " + std::string(stage.op->name)) != std::string::npos)
    return "may_fail is false, but the stage fails: " + out.end;
  if (!f.draws && !f.is_live && !f.has_effects && is_the_same_each_run(stage)) {
    noted.insert("draws");
    outcome again = outcome_of(two, plan, 2);
    if (again.elements != out.elements || again.end != out.end)
      return "neither draws nor is_live, but another run differs";
  }
  if (stage.op->shape != op_info::stage || plan_text(stage).find('<') != std::string::npos) return {};
  if (!is_the_same_each_run(stage)) return {};
  outcome in = outcome_of(rt, stage.inputs[0]);
  if (std::string why = mistake_in_outputs(f, in, out); !why.empty()) return why;
  noted.insert("outputs");
  if (f.forwards) noted.insert("forwards");
  if (f.uses_place || f.draws || !f.keeps_order || stage.errors.on_error) return {};
  noted.insert("place");
  return mistake_in_place(rt, stage, in, out);
}

TEST_CASE("stages keep to the facts that they state") {
  runtime one({.workers = 1}), two({.workers = 2});
  std::set<std::string> noted;
  std::set<std::string> operators_seen;
  every_row([&](const row& r) -> std::string {
    if (!r.is_of_a_run() || r.plan.starts_with("{")) return {};
    if (r.plan.find("shard(hint") != r.plan.npos) return {};  // it runs within distribute only
    operators_seen.insert(std::string(plan_of(r)->op->name));
    return mistake_of(one, two, r, noted);
  });
  if (!runs_all_rows()) return;
  CHECK(noted == std::set<std::string>{"draws", "forwards", "outputs", "place"});
  CHECK(operators_seen.size() > 30);
}

TEST_CASE("stages that draw state it") {
  runtime one({.workers = 1});
  for (const char* text : {"range(50) | shuffle(20)", "range(50) | global_shuffle()", "random() | take(9)",
                           "sample_from_datasets([range(30), range(30)])", "range(50) | map(random(100))",
                           "range(50) | map(it + random())", "range(50) | filter(random() < 0.5)",
                           "range(50) | group_by_window(it % 2, shuffle(25), window_size=25)"}) {
    INFO(text);
    node_ptr plan = parse_plan(text);
    stage_facts f = facts_of(*plan);
    CHECK((f.draws || (plan->op->shape == op_info::stage && facts_of(*plan->inputs[0]).draws)));
    CHECK(outcome_of(one, plan, 1).elements != outcome_of(one, plan, 2).elements);
  }
}

TEST_CASE("the facts of a function become those of its stage") {
  auto text_of = [](const char* plan) { return facts_text(*parse_plan(plan)); };
  const char* rows = "range(9) | map({a: it, b: double(it), c: string(it)}) | ";
  auto after_rows = [&](const std::string& verb) { return text_of((rows + verb).c_str()); };
  CHECK(after_rows("filter(b > 2.0)") == "at most one per input, forwards, keeps order, reads b");
  CHECK(after_rows("filter(a + 1 > 2)") == "at most one per input, forwards, keeps order, may fail, reads a");
  CHECK(after_rows("filter(index() > 2)") == "at most one per input, forwards, keeps order, uses place");
  CHECK(after_rows("map({a, d: let(x = b, x * 2.0)})") == "one per input, keeps order, reads a b");
  CHECK(after_rows("map(it)") == "one per input, keeps order, reads all");
  CHECK(after_rows("map({e: c + c})") == "one per input, keeps order, may fail, reads c");
  CHECK(after_rows("map(it.b / 0.0, order=sloppy)") == "one per input, live, reads b");
  CHECK(after_rows("map(a + 1, on_error=skip)") == "at most one per input, keeps order, may fail, reads a");
  CHECK(after_rows("prefetch(2)") == "one per input, forwards, keeps order");
}

TEST_CASE("a C++ function declares its facts") {
  auto of = [](auto function) { return (range(9) | map(function)).plan(); };
  auto twice = [](std::int64_t v) { return 2 * v; };
  stage_facts unknown = facts_of(*of(twice));
  CHECK((unknown.has_effects && unknown.may_fail && unknown.uses_place && !unknown.is_concurrent &&
         members_read_by(*of(twice)).is_all()));
  node_ptr declared = of(fn("twice", 1, twice, {.concurrent = true, .pure = true, .may_fail = false}));
  CHECK(facts_text(*declared) == "one per input, keeps order, reads all");
}

}  // namespace sluice::lib::facts_test
