// SPDX-License-Identifier: Apache-2.0
// What the optimizer checks after each rule. The rewritten plans are made here, because no rule makes them.
#include "optimizer/verify.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "optimizer/rule.hpp"
#include "sluice/optimizer/optimize.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::verify_test {
namespace {

/// Returns the plan without the stage upstream of its last one.
node_ptr without_last_input(const node_ptr& plan) {
  node copy = *plan;
  copy.inputs = {plan->inputs[0]->inputs[0]};
  return make_node(std::move(copy));
}

/// Returns the plan with that stage in the history of the node upstream of it.
node_ptr with_last_input_removed(const node_ptr& plan, const rule& by) {
  node copy = *plan;
  copy.inputs = {without_stage(plan->inputs[0], by.info.name)};
  return make_node(std::move(copy));
}

std::string verdict_on(const node_ptr& before, const node_ptr& after, const rule& by) {
  try {
    verify_rewrite(*before, *after, by);
  } catch (const error& e) { return std::string(e.why().message()); }
  return {};
}

std::string when_lost(const char* plan, const rule& by) {
  const node_ptr before = parse_plan(plan);
  return verdict_on(before, without_last_input(before), by);
}
std::string when_removed(const char* plan, const rule& by) {
  const node_ptr before = parse_plan(plan);
  return verdict_on(before, with_last_input_removed(before, by), by);
}

}  // namespace

TEST_CASE("a rule removes only the stages that it states, and leaves their records") {
  using Catch::Contains;
  const char* channels = "range(9) | prefetch(2) | prefetch(3)";
  CHECK(when_removed(channels, merge_prefetches).empty());
  CHECK_THAT(when_removed(channels, push_take),
             Contains("the optimizer's rule push_take has broken the plan: prefetch(2) is gone"));
  CHECK_THAT(when_lost(channels, merge_prefetches), Contains("prefetch(2) has left no record"));
  CHECK_THAT(when_removed("range(9) | map(it + 1) | prefetch(3)", remove_noops), Contains("map(it + 1) is gone"));
  CHECK_THAT(when_removed("range(9) | map(it + 1) | prefetch(3)", fuse_expressions), Contains("map(it + 1) is gone"));
  CHECK(when_removed("range(9) | map(it) | prefetch(3)", remove_noops).empty());
  CHECK_THAT(when_lost("range(9) | map(it) | prefetch(3)", remove_noops), Contains("map(it) has left no record"));
  CHECK_THAT(when_lost("range(9) | repeat(1) | prefetch(3)", remove_noops), Contains("repeat(1) has left no record"));
  CHECK(when_lost("range(9) | take(-1) | prefetch(3)", remove_noops).empty());
  CHECK_THAT(when_lost("range(9) | take(-1) | prefetch(3)", merge_takes), Contains("take(-1) is gone"));
  CHECK_THAT(when_lost("range(9) | shuffle(3) | prefetch(3)", overlap_epochs), Contains("shuffle(3) is gone"));
}

TEST_CASE("a stage that one of two inputs loses is missed, though the other input has one of its site") {
  const node_ptr before = parse_plan("zip(range(9) | prefetch(2) | map(it + 1), range(9) | prefetch(2) | map(it + 1))");
  node copy = *before;
  copy.inputs[1] = without_last_input(before->inputs[1]);
  CHECK_THAT(verdict_on(before, make_node(std::move(copy)), push_take), Catch::Contains("prefetch(2) is gone"));
}

TEST_CASE("a stage that a rule removes from one input may have the site of one that stays in another") {
  const node_ptr before = parse_plan("zip(range(9) | skip(0) | map(it + 1), range(8) | skip(2) | map(it + 1))");
  auto without = [&before](std::size_t input) {
    node copy = *before;
    copy.inputs[input] = without_last_input(before->inputs[input]);
    return make_node(std::move(copy));
  };
  CHECK(optimize(before)->plan != before);
  CHECK_THAT(verdict_on(before, without(1), remove_noops), Catch::Contains("another number of elements"));
}

}  // namespace sluice::lib::verify_test
