// SPDX-License-Identifier: Apache-2.0
// Plans over a live source, a channel that the test has filled: with all rules of the optimizer, with none, and with a
// random half of them they give the same elements, errors and counts of errors, and the run leaves as many elements in the
// channel. No rule may read ahead from a source that cannot be read again.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include "runners/row_run.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"
#include "support/budget.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::rewritten_live_test {
namespace {

using namespace test;

constexpr std::int64_t kPushed = 40;

/// Returns the plan with another source.
node_ptr over(const node_ptr& plan, const node_ptr& source) {
  if (plan->op->shape == op_info::source) return source;
  node copy = *plan;
  copy.inputs = {over(plan->inputs[0], source)};
  return make_node(std::move(copy));
}

/// Returns a chain over numbers: maps, filters, and stages that rules remove, move or mark. Some fail, draw, or use the
/// number of an element.
std::string random_chain(std::uint64_t seed) {
  static constexpr std::string_view kStages[] = {" | map(it * 3 + 1)",
                                                 " | map(100 / (it - 8))",
                                                 " | map(it * index())",
                                                 " | map(it + random(5))",
                                                 " | map({a: it, b: it % 5}) | filter(a * b != 8) | map(a * b + a)",
                                                 " | filter(it % 3 != 0)",
                                                 " | filter(random() < 0.7)",
                                                 " | filter(index() % 4 != 1)",
                                                 " | map(70 / (it - 4), on_error=skip)",
                                                 " | map(it + 60 / (it % 7), on_error=skip, errors_max=2)",
                                                 " | map(9 / random(4)) | ignore_errors()",
                                                 " | map(it)",
                                                 " | take(-1)",
                                                 " | skip(2) | skip(1)",
                                                 " | take(19) | take(25)",
                                                 " | shuffle(5)",
                                                 " | shard(2, 1)",
                                                 " | repeat(1)",
                                                 " | batch(3) | unbatch()",
                                                 " | flat_map([it, it + 1])"};
  random_numbers random(seed);
  std::string plan = "range(9)";
  for (std::size_t left = 2 + random.below(6); left-- != 0;) plan += kStages[random.below(std::size(kStages))];
  return plan;
}

rule_choice half_of_the_rules(std::uint64_t seed) {
  random_numbers random(seed);
  rule_choice half;
  for (const rule_info& r : optimizer_rules()) half = random.below(2) ? half.without(r.name) : half.with(r.name);
  return half;
}

rule_choice every_rule() {
  rule_choice all;
  for (const rule_info& r : optimizer_rules()) all = all.with(r.name);
  return all;
}

struct live_run {
  std::string text;      ///< what the run gave
  std::size_t left = 0;  ///< the elements that it left in the channel
};

live_run run_live(runtime& rt, const node_ptr& chain, const rule_choice& rules, error_policy policy, std::size_t most) {
  auto both = from_channel<std::int64_t>({.elements = kPushed});
  for (std::int64_t i = 0; i != kPushed; ++i) both.push.try_push(std::int64_t(i));
  both.push.close();
  const row_outcome o = run_on(rt, over(chain, both.elements.plan()),
                               {.elements_max = most, .at_once = 1, .rules = rules, .on_error = policy});
  live_run r;
  for (const std::string& e : o.elements) r.text += e + " ";
  r.text += o.end + ", dropped " + std::to_string(o.dropped);
  r.left = both.push.size();
  return r;
}

}  // namespace

TEST_CASE("random plans over a live source give the same with and without rules, and leave the same in it") {
  runtime two({.workers = 2});
  const char* wanted = std::getenv("SLUICE_TEST_PLANS");
  const std::uint64_t plans = wanted ? std::stoull(wanted) : 300;
  std::uint64_t rewritten = 0, partly_read = 0;
  for (std::uint64_t seed = first_seed(0); seed != first_seed(0) + plans; ++seed) {
    const node_ptr chain = parse_plan(random_chain(seed));
    const error_policy policy = seed % 3 == 2 ? error_policy::skip : error_policy::stop;
    const std::size_t most = seed % 2 ? 7 : 200;
    CAPTURE(seed, plan_text(*chain), policy == error_policy::skip, most);
    const live_run written = run_live(two, chain, rule_choice::none(), policy, most);
    partly_read += written.left != 0;
    for (const rule_choice& rules : {every_rule(), half_of_the_rules(seed)}) {
      const live_run other = run_live(two, chain, rules, policy, most);
      CHECK(other.text == written.text);
      CHECK(other.left == written.left);
    }
    rewritten += optimize(chain, {.on_error = policy})->plan != chain;
  }
  CHECK(rewritten > plans / 2);
  CHECK(partly_read > plans / 10);
}

}  // namespace sluice::lib::rewritten_live_test
