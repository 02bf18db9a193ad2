// SPDX-License-Identifier: Apache-2.0
#include "splits/split_bounds.hpp"

#include <absl/strings/str_cat.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/ahead.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/node_history.hpp"
#include "plan/plan_parts.hpp"

namespace sluice::lib {
namespace {

bool is_bound(const node& n) { return n.history && n.history->is_split_bound; }

/// The bounds of a plan and of its inner plans. A split has at most one of each operator.
void add_bounds(const node& n, std::vector<const node*>& to) {
  if (is_bound(n)) to.push_back(&n);
  for (const node_ptr& input : n.inputs) add_bounds(*input, to);
  for_each_plan(n, [&to](const node_ptr& inner) { add_bounds(*inner, to); });
}

class rebinding {
 public:
  explicit rebinding(const node& split) { add_bounds(split, bounds_); }

  node_ptr of(const node_ptr& n) const {
    std::vector<node_ptr> inputs;
    inputs.reserve(n->inputs.size());
    for (const node_ptr& input : n->inputs) inputs.push_back(of(input));
    const std::optional<arguments> own = is_bound(*n) ? of_bound(*n) : with_inner_bounds(*n);
    if (inputs == n->inputs && !own) return n;
    node copy = *n;
    copy.inputs = std::move(inputs);
    if (own) copy.arguments = *own;
    return make_node(std::move(copy));
  }

 private:
  std::optional<arguments> of_bound(const node& n) const {
    for (const node* b : bounds_)
      if (b->op == n.op) return b->arguments;
    throw error(internal_error(absl::StrCat("a split has no ", std::string(n.op->name))));
  }
  /// Returns nullopt if no inner plan changes.
  std::optional<arguments> with_inner_bounds(const node& n) const {
    struct inner_plans final : part_visitor {
      const rebinding* all = nullptr;
      bool has_changed = false;
      void plan(const node_ptr& p) override {
        node_ptr made = all->of(p);
        if (made == p) return;
        has_changed = true;
        const_cast<node_ptr&>(p) = std::move(made);  // a member of the copied arguments, which are not const
      }
    } inner;
    bool has_plans = false;
    for_each_plan(n, [&has_plans](const node_ptr&) { has_plans = true; });
    if (!has_plans) return std::nullopt;
    inner.all = this;
    const argument_list& list = n.op->arguments();
    std::shared_ptr<void> copied = list.copy(n.arguments.get());
    list.visit(copied.get(), inner);
    if (!inner.has_changed) return std::nullopt;
    return arguments(list.tag, std::move(copied));
  }

  std::vector<const node*> bounds_;
};

}  // namespace

node_ptr as_split_bound(const node_ptr& n) {
  node copy = *n;
  auto h = std::make_shared<node_history>();
  h->is_split_bound = true;
  copy.history = std::shared_ptr<const node_history>(std::move(h));
  return make_node(std::move(copy));
}

std::string shape_of_bounds(const node& plan) {
  std::vector<const node*> bounds;
  add_bounds(plan, bounds);
  std::string shape;
  for (const node* n : bounds)
    absl::StrAppend(&shape, shape.empty() ? "" : " ", std::string(n->op->name),
                    names_remote_files(*n) ? " remote" : "");
  return shape;
}

node_ptr with_bounds_of(const node_ptr& form, const node& split) { return rebinding(split).of(form); }

}  // namespace sluice::lib
