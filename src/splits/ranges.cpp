// SPDX-License-Identifier: Apache-2.0
// Ranges of the elements of one file, and of a plan that seeks.
#include <utility>

#include "plan/codecs/argument_codec.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/op/skip.hpp"
#include "sluice/op/take.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/rewrite.hpp"
#include "splits/layout.hpp"
#include "splits/split_bounds.hpp"

namespace sluice::lib {
namespace {

bool skips_in_file(const node& n) { return n.op->splits.skips_in_file && n.op->splits.skips_in_file(n); }

/// Returns the source of the plan that `opener` opens if each stage between works on each element by itself.
node_ptr source_opened_by(const node& opener) {
  node_ptr inner;
  std::size_t plans = 0;
  for_each_plan(opener, [&](const node_ptr& p) {
    inner = p;
    ++plans;
  });
  if (plans != 1) return nullptr;
  for (;; inner = inner->inputs[0]) {
    if (inner->op->shape == op_info::source) break;
    bool uses_numbers = false;
    for_each_function(*inner, [&](const function_ptr& f) { uses_numbers |= f->uses_place; });
    if (inner->op->splits.rule != split_rule::each_element || uses_numbers) return nullptr;
  }
  return skips_in_file(*inner) && inner->lacks_path ? inner : nullptr;
}

}  // namespace

node_ptr ranged_source(const split_part& p) {
  if (p.kind == split_part::file) return skips_in_file(*p.at) ? p.at : nullptr;
  return p.kind == split_part::items && p.opener ? source_opened_by(*p.opener) : nullptr;
}

node_ptr range_of(node_ptr plan, std::uint64_t first, std::optional<std::uint64_t> elements) {
  auto number = [](std::uint64_t n) {
    if (n > static_cast<std::uint64_t>(cardinality::kMost))
      throw error(invalid_argument_error("not a split of this plan: its number of elements is too large"));
    return static_cast<std::int64_t>(n);
  };
  if (first) plan = as_split_bound(make_stage(skip_op, arguments::of(skip_arguments{number(first)}), plan));
  if (elements) plan = as_split_bound(make_stage(take_op, arguments::of(take_arguments{number(*elements)}), plan));
  return plan;
}

node_ptr with_range_in_file(const node_ptr& plan, std::uint64_t first, std::optional<std::uint64_t> elements) {
  if (plan->op->shape == op_info::source) return range_of(plan, first, elements);
  struct inner_plans final : part_visitor {
    std::uint64_t first = 0;
    std::optional<std::uint64_t> elements;
    void plan(const node_ptr& p) override {
      node_ptr made = rewrite(
          p, [this](const node_ptr& n) { return n->op->shape == op_info::source ? range_of(n, first, elements) : n; });
      const_cast<node_ptr&>(p) = std::move(made);  // a member of the copied arguments, which are not const
    }
  } inner;
  inner.first = first;
  inner.elements = elements;
  const argument_list& list = plan->op->arguments();
  std::shared_ptr<void> copied = list.copy(plan->arguments.get());
  list.visit(copied.get(), inner);
  node copy = *plan;
  copy.arguments = arguments(list.tag, std::move(copied));
  return make_node(std::move(copy));
}

}  // namespace sluice::lib
