// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/facts.hpp"

#include <algorithm>
#include <utility>

#include "plan/plan_parts.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct names_read::list {
  std::vector<std::string> names;
};

names_read::names_read(std::vector<std::string> names) : list_(std::make_shared<const list>(list{std::move(names)})) {}
names_read names_read::none() { return names_read(std::vector<std::string>()); }
const std::vector<std::string>& names_read::names() const { return list_->names; }

void names_read::add(const names_read& other) {
  if (is_all()) return;
  if (other.is_all()) return void(list_ = nullptr);
  std::vector<std::string> all;
  std::ranges::set_union(names(), other.names(), std::back_inserter(all));
  *this = names_read(std::move(all));
}

namespace {

/// Adds what the calls of a function may do.
void add_function(stage_facts& f, const stage_function& function) {
  if (function.is_data()) return;
  f.draws |= function.draws;
  f.may_fail |= function.facts.may_fail;
  f.uses_place |= function.uses_place || function.draws || !function.facts.pure;
  f.has_effects |= !function.facts.pure;
  f.is_concurrent &= function.facts.concurrent;
}

/// Adds what the stages of an inner plan may do.
void add_plan(stage_facts& f, const node& inner) {
  stage_facts own = facts_of(inner);
  f.draws |= own.draws;
  f.may_fail |= own.may_fail;
  f.is_live |= own.is_live;
  f.has_effects |= own.has_effects;
  f.is_concurrent &= own.is_concurrent;
  for (const node_ptr& input : inner.inputs) add_plan(f, *input);
}

}  // namespace

stage_facts facts_of(const node& n) {
  stage_facts f = n.op->facts.always;
  for_each_function(n, [&f](const function_ptr& function) { add_function(f, *function); });
  for_each_plan(n, [&f](const node_ptr& inner) { add_plan(f, *inner); });
  if (n.op->facts.refine) n.op->facts.refine(n, f);
  if (n.op->shape == op_info::source) f.uses_place = false;  // no inputs before
  const bool drops = f.may_fail && n.errors.on_error == error_policy::skip;
  if (drops && f.outputs == output_count::one_per_input) f.outputs = output_count::at_most_one_per_input;
  f.has_record |= n.errors.on_error == error_policy::skip;
  return f;
}

names_read members_read_by(const node& n) {
  names_read all = names_read::none();
  for_each_function(n, [&all](const function_ptr& function) {
    if (!function->is_data()) all.add(function->reads);
  });
  return all;
}

std::string facts_text(const node& n) {
  const stage_facts f = facts_of(n);
  std::string out;
  auto add = [&out](bool holds, std::string_view text) {
    if (!holds) return;
    out += out.empty() ? "" : ", ";
    out += text;
  };
  add(f.outputs == output_count::one_per_input, "one per input");
  add(f.outputs == output_count::at_most_one_per_input, "at most one per input");
  add(f.outputs == output_count::one_per_group, "one per group");
  add(f.forwards, "forwards");
  add(f.keeps_order, "keeps order");
  add(f.draws, "draws");
  add(f.may_fail, "may fail");
  add(f.uses_place, "uses place");
  add(f.skips_inputs, "skips inputs");
  add(f.is_live, "live");
  add(f.has_effects, "has effects");
  add(!f.is_concurrent, "not concurrent");
  const names_read members = members_read_by(n);
  if (members.is_all()) return add(true, "reads all"), out;
  std::string reads;
  for (const std::string& name : members.names()) reads += " " + name;
  add(!reads.empty(), "reads" + reads);
  return out;
}

}  // namespace sluice::lib
