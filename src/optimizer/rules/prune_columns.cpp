// SPDX-License-Identifier: Apache-2.0
// prune_columns: where a stage such as map, group_by or count_elements uses only some members of its elements, the stage
// upstream that makes these elements builds only those.
//
//   csv("a.csv", "id: int64, name: bytes, x: double") | filter(id > 3) | map({y: x * 2})
//     becomes   csv("a.csv", "id: int64, name: bytes, x: double", columns=["id", "x"]) | filter(id > 3) | map({y: x * 2})
//
// Operators state what they do with members, and the rule names none of them. One that builds members sets
// op_info::for_columns: readers, parsers, and maps of structures. Those between state op_facts::members: they pass elements
// on, or put them into batches, so they only get a smaller type, and their positions, counts and draws are the same.
// Readers check the fields that they do not build (sluice/engine/column_choice.hpp), so the same elements are bad. A map
// of a structure keeps the members that may fail. A batch needs all members that might not stack, such as tensors. With
// trust=true nothing is kept for its errors.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "element/tensors/row_fit.hpp"
#include "optimizer/rule.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

const element_type& row_of_elements(const element_type& t) { return t.kind == kind::batch ? *t.element : t; }

/// Returns a copy of the node with these inputs, whose expressions are compiled for the types of their elements. Null: an
/// expression has no such form.
std::optional<node> with_typed_functions(const node& n, const node_ptr& input) {
  struct functions final : part_visitor {
    const element_type& in;
    bool has_all = true;
    explicit functions(const element_type& t) : in(t) {}
    void function(const function_ptr& f) override {
      function_ptr other = f->for_input(in);
      has_all &= other != nullptr;
      if (other) const_cast<function_ptr&>(f) = std::move(other);  // of the copied arguments, which are not const
    }
  };
  const argument_list& list = n.op->arguments();
  std::shared_ptr<void> copied = list.copy(n.arguments.get());
  functions visitor(*input->type);
  list.visit(copied.get(), visitor);
  if (!visitor.has_all) return std::nullopt;
  node copy = n;
  copy.arguments = arguments(list.tag, std::move(copied));
  copy.inputs[0] = input;
  return copy;
}

/// Has the stages upstream of one that reads some members build fewer of them.
class column_pruning {
 public:
  explicit column_pruning(std::uint64_t rule_bit) : bit_(rule_bit) {}

  /// Returns a form of `n` that builds the members `wanted` of its structures, and perhaps others; `n` if it has none.
  node_ptr narrowed(const node_ptr& n, names_read wanted, const in_force& settings) {
    if (settings.is_fixed || (settings.rules_off & bit_)) return refused(n, "it runs as written");
    const element_type& row = row_of_elements(*n->type);
    if (row.kind != kind::structure || has_only(row, wanted)) return n;
    if (n->op->for_columns) return builder(n, wanted, settings);
    const member_use uses = n->op->facts.members;
    if (uses == member_use::of_inner) return inner(n, wanted, settings);
    if (n->inputs.size() != 1) return n;
    if (uses != member_use::passed && uses != member_use::stacked) return refused(n, "it needs whole elements");
    if (uses == member_use::stacked && !settings.trusts) wanted.add(members_that_may_not_stack(row));
    wanted.add(members_read_by(*n));
    if (wanted.is_all()) return refused(n, "it reads whole elements");
    node_ptr in = narrowed(n->inputs[0], wanted, settings.upstream_of(*n));
    if (in == n->inputs[0]) return n;
    std::optional<node> copy = with_typed_functions(*n, in);
    return copy ? make_node(std::move(*copy)) : refused(n, "its function has no form for other elements");
  }

  /// The reason why nothing was narrowed; empty if no stage could.
  const std::string& why() const { return why_; }

 private:
  node_ptr refused(const node_ptr& n, std::string_view why) {
    why_ = absl::StrCat(stage_text(*n), ": ", std::string(why));
    return n;
  }
  static bool has_only(const element_type& row, const names_read& wanted) {
    return wanted.is_all() || std::ranges::all_of(row.members, [&](const member& m) {
             return std::ranges::binary_search(wanted.names(), m.name);
           });
  }
  static names_read members_that_may_not_stack(const element_type& row) {
    std::vector<std::string> names;
    for (const member& m : row.members)
      if (row_fit::stacked(*struct_of({}, {m})).may_refuse()) names.push_back(m.name);
    std::ranges::sort(names);
    return names_read(std::move(names));
  }
  /// Returns the names, or that of the smallest member if there are none: a structure has at least one.
  static std::vector<std::string> at_least_one(const element_type& row, const names_read& wanted) {
    if (!wanted.names().empty()) return wanted.names();
    auto cost = [](const member& m) { return std::pair(!m.type->trivially_destroyed, m.type->size); };
    return {std::ranges::min_element(row.members, {}, cost)->name};
  }

  /// Narrows a stage that builds members.
  node_ptr builder(const node_ptr& n, const names_read& wanted, const in_force& settings) {
    const std::vector<std::string> names = at_least_one(row_of_elements(*n->type), wanted);
    std::string why;
    node copy = *n;
    copy.arguments = n->op->for_columns(*n, names, settings.trusts, why);
    if (!why.empty()) return refused(n, why);
    if (n->op->arguments().equal(copy.arguments.get(), n->arguments.get())) return n;
    copy.history = with_text_as_written(*n);
    node_ptr made = make_node(std::move(copy));
    return made->type == n->type ? n : made;
  }
  /// Returns the history of `n` after this rule. If the node has a function, its stage keeps the name that it has now.
  static std::shared_ptr<const node_history> with_text_as_written(const node& n) {
    std::shared_ptr<node_history> h = history_of(n, prune_columns.info.name);
    for_each_function(n, [&](const function_ptr&) { h->written = bare(n); });
    return h;
  }

  /// Narrows the reader that is opened for each element.
  node_ptr inner(const node_ptr& n, const names_read& wanted, const in_force& settings) {
    struct plans final : part_visitor {
      column_pruning& pruning;
      const names_read& wanted;
      const in_force inside;
      bool has_changed = false;
      plans(column_pruning& p, const names_read& w, const in_force& f) : pruning(p), wanted(w), inside(f) {}
      void plan(const node_ptr& p) override {
        node_ptr made = pruning.narrowed(p, wanted, inside);
        has_changed |= made != p;
        const_cast<node_ptr&>(p) = std::move(made);  // of the copied arguments, which are not const
      }
    };
    const argument_list& list = n->op->arguments();
    std::shared_ptr<void> copied = list.copy(n->arguments.get());
    plans visitor(*this, wanted, settings.inside_of(*n));
    list.visit(copied.get(), visitor);
    if (!visitor.has_changed) return n;
    node copy = *n;
    copy.arguments = arguments(list.tag, std::move(copied));
    return remade(std::move(copy), prune_columns.info.name);
  }

  std::uint64_t bit_;
  std::string why_{};
};

/// Returns true if a reader or parser of columns is upstream, so that a user may expect the rule to act.
bool reads_columns(const node& n) {
  if (n.op->for_columns && n.op->facts.members != member_use::read) return true;
  bool found = !n.inputs.empty() && reads_columns(*n.inputs[0]);
  for_each_plan(n, [&found](const node_ptr& inner) { found |= reads_columns(*inner); });
  return found;
}

node_ptr with_columns_pruned(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->facts.members != member_use::read || n->inputs.empty()) return n;
  const names_read reads = members_read_by(*n);
  if (reads.is_all()) return n;
  column_pruning pruning(bit_of_rule(prune_columns.info.name));
  node_ptr in = pruning.narrowed(n->inputs[0], reads, settings.upstream_of(*n));
  if (in != n->inputs[0]) {
    if (std::optional<node> copy = with_typed_functions(*n, in)) {
      node_ptr made = make_node(std::move(*copy));
      if (made->type == n->type) return made;
    }
    return n;
  }
  if (!pruning.why().empty() && reads_columns(*n->inputs[0]))
    notes.refuse(prune_columns.info.name, absl::StrCat(stage_text(*n), " reads ", absl::StrJoin(reads.names(), ", "),
                                                       " only, but all members are built by ", pruning.why()));
  return n;
}

}  // namespace

const rule prune_columns{
    {"prune_columns", "readers and maps build only the members that a map, group_by or count_elements downstream reads"},
    with_columns_pruned};

}  // namespace sluice::lib
