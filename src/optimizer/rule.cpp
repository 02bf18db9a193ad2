// SPDX-License-Identifier: Apache-2.0
#include "optimizer/rule.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "optimizer/sent_rules.hpp"
#include "sluice/engine/dataset_options.hpp"

namespace sluice::lib {
namespace {

void add_rule(node_history& h, std::string_view rule) {
  if (std::ranges::find(h.rules, rule) == h.rules.end()) h.rules.push_back(rule);
}

void append(std::vector<node_ptr>& to, const std::vector<node_ptr>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Returns the input of `n` with the history of both, and `removed` in it.
node_ptr input_with(const node_ptr& n, const std::vector<node_ptr>& removed, std::string_view rule) {
  node input = *n->inputs[0];
  std::shared_ptr<node_history> h = history_of(input, rule);
  append(h->removed, removed);
  if (n->history) {
    append(h->removed, n->history->removed);
    append(h->counted, n->history->counted);
    for (std::string_view earlier : n->history->rules) add_rule(*h, earlier);
  }
  input.history = std::shared_ptr<const node_history>(std::move(h));
  return make_node(std::move(input));
}

}  // namespace

bool sends_input(const node& n) { return n.op->facts.sends_input; }

// More may be in force here than in a run: an outer with_options may keep an inner one from acting.
in_force in_force::upstream_of(const node& n) const {
  in_force f = *this;
  if (sends_input(n)) f.is_fixed = f.is_decided = true;
  f.is_last &= n.op->facts.options != nullptr;
  f.is_repeated |= n.op->facts.opens_input_again;
  f.feeds_sloppy |= n.op->facts.refine != nullptr && facts_of(n).is_live;
  f.is_joined = n.history && n.history->joins_input;
  f.is_beside_others |= n.op->shape == op_info::combine;
  f.skips_elements |= facts_of(n).skips_inputs;
  if (n.op->facts.options) {
    const dataset_options& o = n.op->facts.options(n);
    f.drops |= o.on_error == error_policy::skip;
    f.is_sloppy |= o.order == order::sloppy;
    if (o.optimize.is_given() && !is_decided) f.is_fixed = !o.optimize.is_on();
    f.is_decided |= o.optimize.is_given();
    if (o.trust.is_given() && !is_trust_decided) f.trusts = o.trust.is_on();
    f.is_trust_decided |= o.trust.is_given();
    for (const std::string& setting : o.rules.list) {
      const std::uint64_t bit = bit_of_rule(std::string_view(setting).substr(0, setting.find('=')));
      if ((f.rules_off | f.rules_on) & bit) continue;  // decided downstream
      (setting.ends_with("=on") ? f.rules_on : f.rules_off) |= bit;
    }
  } else if (n.op->facts.sets_error_policy) {
    f.drops = true;
  }
  return f;
}

std::shared_ptr<node_history> history_of(const node& n, std::string_view rule) {
  auto h = n.history ? std::make_shared<node_history>(*n.history) : std::make_shared<node_history>();
  add_rule(*h, rule);
  return h;
}

node_ptr remade(node changed, std::string_view rule) {
  changed.history = std::shared_ptr<const node_history>(history_of(changed, rule));
  return make_node(std::move(changed));
}

node_ptr bare(const node& n) {
  if (n.history && n.history->written) return n.history->written;
  node copy = n;
  copy.inputs.clear();
  copy.history = {};
  return std::make_shared<const node>(std::move(copy));
}

node_ptr exchanged_with_input(node moved, std::string_view rule, passed_counts counts,
                              absl::FunctionRef<node_ptr(const node_ptr&)> further) {
  node passed = *moved.inputs[0];
  node_ptr below = passed.inputs[0];
  std::shared_ptr<node_history> of_moved = history_of(moved, rule), of_passed = history_of(passed, rule);
  std::vector<node_ptr> counted = std::exchange(of_passed->counted, std::exchange(of_moved->counted, {}));
  if (counts == passed_counts::of_its_input && !std::exchange(of_passed->is_counted_elsewhere, true))
    counted.push_back(bare(passed));
  std::vector<node_ptr> removed = std::exchange(of_passed->removed, std::exchange(of_moved->removed, {}));
  if (!removed.empty() || !counted.empty()) {
    node copy = *below;
    std::shared_ptr<node_history> h = history_of(copy, rule);
    append(h->removed, removed);
    append(h->counted, counted);
    copy.history = std::shared_ptr<const node_history>(std::move(h));
    below = make_node(std::move(copy));
  }
  moved.inputs = {below};
  moved.history = std::shared_ptr<const node_history>(std::move(of_moved));
  passed.history = std::shared_ptr<const node_history>(std::move(of_passed));
  passed.inputs = {further(make_node(std::move(moved)))};
  return make_node(std::move(passed));
}

node_ptr without_stage(const node_ptr& n, std::string_view rule) { return input_with(n, {bare(*n)}, rule); }

node_ptr without_trace(const node_ptr& n, std::string_view rule) { return input_with(n, {}, rule); }

}  // namespace sluice::lib
