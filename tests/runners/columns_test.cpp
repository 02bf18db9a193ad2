// SPDX-License-Identifier: Apache-2.0
// Filters, maps, and groups that read rows from the columns of batches yield what they yield for elements: the same
// elements, errors, and positions.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "runners/row_run.hpp"
#include "sluice/op/batch.hpp"
#include "sluice/op/skip.hpp"
#include "sluice/op/unbatch.hpp"
#include "sluice/plan/rewrite.hpp"

namespace sluice::lib::columns_test {
namespace {

using namespace test;

constexpr const char* kInserted = "columns_test";

node_ptr with_input(const node_ptr& n, const op_info& op, arguments a) {
  return make_node({.op = &op, .arguments = std::move(a), .inputs = {n}, .inserted_by = kInserted});
}

bool may_read_columns(const node& n) {
  return n.op->shape == op_info::stage && (n.op->name == "filter" || n.op->name == "map" || n.op->name == "group_by") &&
         batched_of(n.inputs[0]->type) && n.inputs[0]->type->copy;
}

/// Returns the plan with batches of three rows before each stage that may read columns, and a stage between that passes the
/// rows on as elements, unless the rule remove_noops removes it.
node_ptr in_batches(const node_ptr& plan) {
  return rewrite(plan, [&](const node_ptr& n) {
    if (!may_read_columns(*n)) return n;
    const batch_arguments three{.size = 3};
    node_ptr rows = with_input(with_input(n->inputs[0], batch_op, arguments::of(three)), unbatch_op, {});
    node copy = *n;
    copy.inputs = {with_input(rows, skip_op, arguments::of(skip_arguments{.elements = 0}))};
    return make_node(std::move(copy));
  });
}

struct trial {
  runtime& rt;
  node_ptr plan;
  std::size_t most = 0;

  row_outcome run(bool as_columns, bool save, const checkpoint& from = {}, std::size_t done = 0) const {
    const rule_choice rules = as_columns ? rule_choice() : rule_choice().without("remove_noops");
    return run_on(rt, plan, {.elements_max = most - done, .save = save, .from = from, .rules = rules});
  }
};

std::string difference_of(const row_outcome& a, const row_outcome& b, std::size_t from) {
  const auto rest = b.elements.begin() + static_cast<std::ptrdiff_t>(std::min(from, b.elements.size()));
  if (a.end == b.end && std::equal(a.elements.begin(), a.elements.end(), rest, b.elements.end())) return {};
  std::string text;
  for (const row_outcome* o : {&a, &b}) {
    for (const std::string& e : o->elements) text += e + " ";
    text += o->end + (o == &a ? "; as elements, of which " + std::to_string(from) + " came before: " : "");
  }
  return text;
}

std::string difference_in_columns(const trial& t) {
  const row_outcome columns = t.run(true, true), elements = t.run(false, true);
  std::string wrong = difference_of(columns, elements, 0);
  if (wrong.empty() && columns.dropped != elements.dropped) wrong = "another number of dropped elements";
  for (std::size_t i = 0; wrong.empty() && i != columns.places.size(); ++i) {
    const std::size_t done = columns.delivered_before[i];
    for (const bool as_columns : {true, false}) {
      wrong = difference_of(t.run(as_columns, false, columns.places[i], done), elements, done);
      if (!wrong.empty())
        return std::string("resumed ") + (as_columns ? "in columns" : "as elements") + " before element " +
               std::to_string(done) + ": " + wrong;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("rows hold for stages that read columns, which continue where elements did") {
  runtime one({.workers = 1});
  std::size_t plans = 0;
  every_row([&](const row& r) -> std::string {
    // Unbatch cannot seek.
    if (!r.is_of_a_run() || r.plan.find("global_shuffle") != std::string::npos) return {};
    const node_ptr plan = plan_of(r), changed = in_batches(plan);
    if (changed == plan) return {};
    ++plans;
    return difference_in_columns({one, changed, most_of(r)});
  });
  if (runs_all_rows()) CHECK(plans > 100);  // with a small budget a tenth of the rows
}

}  // namespace sluice::lib::columns_test
