// SPDX-License-Identifier: Apache-2.0
// sluice/plan/rewrite.hpp
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "plan/fake_operators.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/plan/rewrite.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::rewrite_test {

namespace {

node_ptr unchanged(const node_ptr& n) { return n; }

node_ptr with_prefetch(const node_ptr& n) {
  return make_stage(*find_op("prefetch"), parse_plan("range(1) | prefetch")->arguments, n);
}

/// A take(2) becomes its input.
node_ptr without_take(const node_ptr& n) { return n->op->name == "take" ? n->inputs[0] : n; }

}  // namespace

TEST_CASE("a rewrite visits each node once, inputs first") {
  scoped_operators scope(test::fake_operators());
  node_ptr shared = parse_plan("range(5) | take(2)");
  node_ptr both = make_combine(*find_op("zip"), arguments(), {shared, shared});
  std::vector<std::string> visited;
  node_ptr same = rewrite(both, [&](const node_ptr& n) {
    visited.emplace_back(n->op->name);
    return n;
  });
  CHECK(visited == std::vector<std::string>{"range", "take", "zip"});
  CHECK(same == both);
}

TEST_CASE("a rewrite that changes nothing returns the plan itself") {
  scoped_operators scope(test::fake_operators());
  node_ptr plan = parse_plan("zip(range(5) | take(2), range(3)) | prefetch | shuffle(2)");
  CHECK(rewrite(plan, unchanged) == plan);  // a function, and a lambda:
  CHECK(rewrite(plan, [](const node_ptr& n) { return n; }) == plan);
}

TEST_CASE("a rewrite keeps sharing, and does not copy unchanged parts") {
  scoped_operators scope(test::fake_operators());
  node_ptr shared = parse_plan("range(5) | take(2)"), other = parse_plan("range(3) | shuffle(2)");
  node_ptr both = make_combine(*find_op("zip"), arguments(), {shared, shared});
  node_ptr all = make_combine(*find_op("zip"), arguments(), {both, other});
  node_ptr changed = rewrite(all, [](const node_ptr& n) { return n->op->name == "take" ? with_prefetch(n) : n; });
  CHECK(plan_text(*changed) ==
        "zip(zip(range(5) | take(2) | prefetch, range(5) | take(2) | prefetch), range(3) | shuffle(2))");
  CHECK(changed->inputs[0]->inputs[0] == changed->inputs[0]->inputs[1]);
  CHECK(changed->inputs[0]->inputs[0]->inputs[0] == shared);
  CHECK(changed->inputs[1] == other);
  CHECK(plan_text(*all) == "zip(zip(range(5) | take(2), range(5) | take(2)), range(3) | shuffle(2))");
}

TEST_CASE("copies of nodes keep their sites, also where stages upstream come and go") {
  scoped_operators scope(test::fake_operators());
  node_ptr plan = parse_plan("range(9) | take(1) | shuffle(2) | take(2) | shuffle(3)");
  node_ptr changed = rewrite(plan, without_take);
  CHECK(plan_text(*changed) == "range(9) | shuffle(2) | shuffle(3)");
  CHECK(changed->site == plan->site);
  CHECK(changed->inputs[0]->site == plan->inputs[0]->inputs[0]->site);
}

TEST_CASE("an inserted stage has a site of its own, and changes no site of the user's") {
  scoped_operators scope(test::fake_operators());
  node_ptr plan = parse_plan("range(9) | prefetch | shuffle(2) | prefetch");
  auto inserted = [](std::string_view by) {
    return [by](const node_ptr& n) {
      if (n->op->name != "range" && n->op->name != "shuffle") return n;
      return make_node({.op = find_op("prefetch"),
                        .arguments = parse_plan("range(1) | prefetch")->arguments,
                        .inputs = {n},
                        .inserted_by = by});
    };
  };
  node_ptr changed = rewrite(plan, inserted("add_prefetch"));
  CHECK(plan_text(*changed) == "range(9) | prefetch | prefetch | shuffle(2) | prefetch | prefetch");
  std::vector<std::uint32_t> sites, written;
  for (const node* n = changed.get();; n = n->inputs[0].get()) {
    sites.push_back(n->site);
    if (n->inserted_by.empty()) written.push_back(n->site);
    if (n->inputs.empty()) break;
  }
  std::vector<std::uint32_t> before;
  for (const node* n = plan.get();; n = n->inputs[0].get()) {
    before.push_back(n->site);
    if (n->inputs.empty()) break;
  }
  CHECK(written == before);
  std::sort(sites.begin(), sites.end());
  CHECK(std::adjacent_find(sites.begin(), sites.end()) == sites.end());
  // Another rewrite's stages are other stages.
  CHECK(rewrite(plan, inserted("other"))->inputs[0]->site != changed->inputs[0]->site);
  // A stage that the user adds above them has the site that it has without them.
  const arguments one = parse_plan("range(1) | prefetch")->arguments;
  CHECK(make_stage(*find_op("prefetch"), one, changed)->site == make_stage(*find_op("prefetch"), one, plan)->site);
}

TEST_CASE("inserted stages have sites of their own, also if a second pass inserts upstream of the first") {
  scoped_operators scope(test::fake_operators());
  auto inserted_after = [](std::string_view op) {
    return [op](const node_ptr& n) {
      if (n->op->name != op) return n;
      return make_node({.op = find_op("prefetch"),
                        .arguments = parse_plan("range(1) | prefetch")->arguments,
                        .inputs = {n},
                        .inserted_by = "add_prefetch"});
    };
  };
  node_ptr first = rewrite(parse_plan("range(9) | shuffle(2) | take(3)"), inserted_after("shuffle"));
  node_ptr second = rewrite(first, inserted_after("range"));
  CHECK(plan_text(*second) == "range(9) | prefetch | shuffle(2) | prefetch | take(3)");
  const node& later = *second->inputs[0];
  CHECK(later.site != later.inputs[0]->inputs[0]->site);
  CHECK(second->site == first->site);
  CHECK(later.inputs[0]->site == first->inputs[0]->inputs[0]->site);
}

TEST_CASE("a rewrite stops at the node that it is given, and shares it") {
  scoped_operators scope(test::fake_operators());
  node_ptr below = parse_plan("range(9) | take(1)");
  node_ptr plan = make_stage(*find_op("take"), parse_plan("range(1) | take(2)")->arguments, below);
  node_ptr changed =
      rewrite(plan, [](const node_ptr& n) { return n->op->name == "take" ? with_prefetch(n) : n; }, below.get());
  CHECK(plan_text(*changed) == "range(9) | take(1) | take(2) | prefetch");
  CHECK(changed->inputs[0]->inputs[0] == below);
}

TEST_CASE("a change that returns no node is reported with the stage") {
  scoped_operators scope(test::fake_operators());
  CHECK_THROWS_WITH(rewrite(parse_plan("range(9) | take(1)"), [](const node_ptr&) { return node_ptr(); }),
                    Catch::Contains("range became null"));
}

TEST_CASE("a reader that receives its path shares what its inputs share") {
  scoped_operators scope(test::fake_operators());
  node_ptr reader;
  for_each_plan(*parse_plan("lines(\"x\") | flat_map(lines | take(3))"), [&](const node_ptr& p) { reader = p; });
  node_ptr whole = with_path(make_combine(*find_op("zip"), arguments(), {reader, reader}), "f");
  CHECK(plan_text(*whole) == "zip(lines(\"f\") | take(3), lines(\"f\") | take(3))");
  CHECK(whole->inputs[0] == whole->inputs[1]);
}

}  // namespace sluice::lib::rewrite_test
