// SPDX-License-Identifier: Apache-2.0
#include "optimizer/verify.hpp"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <string>
#include <vector>

#include "engine/lowering/element_specs.hpp"
#include "optimizer/rule.hpp"
#include "plan/node_history.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Specs and cardinalities visit a shared input once for each of its readers, so they are checked in plans with at most
/// this number of such visits.
constexpr std::size_t kVisitsMax = 2000;

void count_visits(const node& n, std::size_t& left) {
  if (left == 0) return;
  --left;
  for (const node_ptr& input : n.inputs) count_visits(*input, left);
}

bool is_small(const node& plan) {
  std::size_t left = kVisitsMax;
  count_visits(plan, left);
  return left != 0;
}

/// The nodes of a plan, and those in its history, by site and operator. A site is unique in its chain only, so several
/// inputs of a stage may have nodes of one key.
struct nodes_of_plan {
  struct same_key {
    std::vector<const node*> in_plan, in_history;

    const node& first() const { return in_plan.empty() ? *in_history.front() : *in_plan.front(); }
    std::size_t size() const { return in_plan.size() + in_history.size(); }
  };
  absl::flat_hash_map<std::uint64_t, same_key> all;
  absl::flat_hash_set<const node*> seen;

  static std::uint64_t key(const node& n) {
    return (std::uint64_t{n.site} << 32) ^ reinterpret_cast<std::uintptr_t>(n.op);
  }
  void add(const node& n) {
    if (!seen.insert(&n).second) return;
    all[key(n)].in_plan.push_back(&n);
    if (n.history)
      for (const node_ptr& removed : n.history->removed) all[key(*removed)].in_history.push_back(removed.get());
    for (const node_ptr& input : n.inputs) add(*input);
  }
  /// Returns two nodes of a chain with one site, or an empty text.
  static std::string site_twice(const node& plan, absl::flat_hash_set<const node*>& begun) {
    if (!begun.insert(&plan).second) return {};
    absl::flat_hash_map<std::uint32_t, const node*> chain;
    const node* n = &plan;
    for (;; n = n->inputs[0].get()) {
      auto add = [&chain](const node& one) { return chain.emplace(one.site, &one).second; };
      if (!add(*n)) return stage_text(*n);
      if (n->history)
        for (const node_ptr& removed : n->history->removed)
          if (!add(*removed)) return stage_text(*removed);
      if (n->op->shape != op_info::stage) break;
    }
    for (const node_ptr& input : n->inputs)
      if (std::string twice = site_twice(*input, begun); !twice.empty()) return twice;
    return {};
  }
};

[[noreturn]] void broken(std::string_view rule, const std::string& what) {
  throw error(internal_error(absl::StrCat("the optimizer's rule ", std::string(rule), " has broken the plan: ", what,
                                          "; run it without that rule, and report this as a bug")));
}

/// Checks that the rule removes only what it states, and leaves the records that it states.
void verify_removals(const nodes_of_plan& old, const nodes_of_plan& made, const rule& by) {
  for (const auto& [key, was] : old.all) {
    const auto found = made.all.find(key);
    const nodes_of_plan::same_key none, &is = found == made.all.end() ? none : found->second;
    if (is.in_plan.size() >= was.in_plan.size() && is.size() >= was.size()) continue;
    std::size_t removable = 0, traceless = 0;
    const node* stays = &was.first();
    for (const node* n : was.in_plan) {
      const removal remains = by.removes ? by.removes(*n) : removal::never;
      removable += remains != removal::never;
      traceless += remains == removal::traceless;
      if (remains == removal::never) stays = n;
    }
    if (is.in_plan.size() + removable < was.in_plan.size())
      broken(by.info.name, absl::StrCat(stage_text(*stays), " is gone"));
    if (is.size() + traceless < was.size())
      broken(by.info.name, absl::StrCat(stage_text(was.first()), " has left no record"));
  }
}

}  // namespace

void verify_rewrite(const node& before, const node& after, const rule& by) {
  const std::string_view rule = by.info.name;
  if (before.type != after.type)
    broken(rule, absl::StrCat("its elements were ", before.type->name, " and are ", after.type->name));
  if (is_small(before) && is_small(after)) {
    if (element_spec_of(before).text() != element_spec_of(after).text()) broken(rule, "its elements have another spec");
    if (cardinality_of(before) != cardinality_of(after)) broken(rule, "it has another number of elements");
  }
  nodes_of_plan old, made;
  old.add(before);
  made.add(after);
  for (const auto& [key, n] : made.all)
    if (!old.all.contains(key) && n.first().inserted_by.empty())
      broken(rule, absl::StrCat(stage_text(n.first()), " is new"));
  verify_removals(old, made, by);
  if (std::string twice = stage_without_own_site(after); !twice.empty())
    broken(rule, absl::StrCat("two stages have the site of ", twice));
}

std::string stage_without_own_site(const node& plan) {
  absl::flat_hash_set<const node*> begun;
  return nodes_of_plan::site_twice(plan, begun);
}

}  // namespace sluice::lib
