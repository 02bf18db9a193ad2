// SPDX-License-Identifier: Apache-2.0
#include "optimizer/verify.hpp"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <string>

#include "coro/absent_stage.hpp"
#include "engine/lowering/element_specs.hpp"
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

/// The nodes of a plan, and those in its history, by site and operator. A site is unique in its chain only.
struct nodes_of_plan {
  absl::flat_hash_map<std::uint64_t, const node*> all;
  absl::flat_hash_set<const node*> seen;

  static std::uint64_t key(const node& n) {
    return (std::uint64_t{n.site} << 32) ^ reinterpret_cast<std::uintptr_t>(n.op);
  }
  void add(const node& n) {
    if (!seen.insert(&n).second) return;
    all.emplace(key(n), &n);
    if (n.history)
      for (const node_ptr& removed : n.history->removed) all.emplace(key(*removed), removed.get());
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

bool has_record(const node& n) {
  if (n.op->lowering.absent) return n.op->lowering.absent(n) != nullptr;
  return facts_of(n).has_record;
}

/// A stage that opens that of its input has no record: take(-1).
bool may_vanish(const node& n) { return !has_record(n) || n.op->name == "skip" || n.op->name == "shard"; }

[[noreturn]] void broken(std::string_view rule, const std::string& what) {
  throw error(internal_error(absl::StrCat("the optimizer's rule ", std::string(rule), " has broken the plan: ", what,
                                          "; run it without that rule, and report this as a bug")));
}

}  // namespace

void verify_rewrite(const node& before, const node& after, std::string_view rule) {
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
    if (!old.all.contains(key) && n->inserted_by.empty()) broken(rule, absl::StrCat(stage_text(*n), " is new"));
  for (const auto& [key, n] : old.all)
    if (!made.all.contains(key) && !may_vanish(*n)) broken(rule, absl::StrCat(stage_text(*n), " has left no record"));
  if (std::string twice = stage_without_own_site(after); !twice.empty())
    broken(rule, absl::StrCat("two stages have the site of ", twice));
}

std::string stage_without_own_site(const node& plan) {
  absl::flat_hash_set<const node*> begun;
  return nodes_of_plan::site_twice(plan, begun);
}

}  // namespace sluice::lib
