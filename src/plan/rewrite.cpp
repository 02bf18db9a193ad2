// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/rewrite.hpp"

#include <string>
#include <unordered_map>
#include <utility>

namespace sluice::lib {

namespace {

/// Returns true if a node upstream in the same chain has the site of `n`.
bool is_site_taken(const node& n) {
  const node* above = &n;
  while (above->op->shape == op_info::stage) {
    above = above->inputs[0].get();
    if (above->site == n.site) return true;
  }
  return false;
}

class rewriting {
 public:
  rewriting(node_change change, const node* below) : change_(change), below_(below) {}

  node_ptr rewritten(const node_ptr& n) {
    if (n.get() == below_) return n;
    if (auto found = done_.find(n.get()); found != done_.end()) return found->second;
    node_ptr made = change_(with_rewritten_inputs(n));
    if (!made) throw error(internal_error("rewrite: " + std::string(n->op->name) + " became null"));
    done_.emplace(n.get(), made);
    return made;
  }

 private:
  node_ptr with_rewritten_inputs(const node_ptr& n) {
    std::vector<node_ptr> inputs;
    inputs.reserve(n->inputs.size());
    for (const node_ptr& input : n->inputs) inputs.push_back(rewritten(input));
    if (inputs == n->inputs) return n;
    node copy = *n;
    copy.inputs = std::move(inputs);
    // Two passes of one rewrite: the second may insert upstream of what the first has inserted.
    if (!copy.inserted_by.empty() && is_site_taken(copy)) copy.site = 0;
    return make_node(std::move(copy));
  }

  const node_change change_;
  const node* const below_;
  std::unordered_map<const node*, node_ptr> done_;
};

}  // namespace

node_ptr rewrite(const node_ptr& plan, node_change change, const node* below) {
  return rewriting(change, below).rewritten(plan);
}

}  // namespace sluice::lib
