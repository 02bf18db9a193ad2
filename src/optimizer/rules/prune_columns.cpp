// SPDX-License-Identifier: Apache-2.0
// prune_columns: where a stage such as map or group_by uses only some members of its elements, the stage upstream that
// makes these elements builds only those.
//
//   csv("a.csv", "id: int64, name: bytes, x: double") | filter(id > 3) | map({y: x * 2})
//     becomes   csv("a.csv", "id: int64, name: bytes, x: double", columns=["id", "x"]) | filter(id > 3) | map({y: x * 2})
//
// The stages between them forward elements, or put them into batches, so they only get a smaller type: their positions,
// counts and draws are the same. Readers check the fields that they do not build (sluice/engine/column_choice.hpp), so
// the same elements are bad. A map of a structure keeps the members that may fail. A batch needs all members that might
// not stack, such as tensors. With trust=true nothing is kept for its errors.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "element/tensors/row_fit.hpp"
#include "expr/tree.hpp"
#include "optimizer/rule.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/expr/expression.hpp"
#include "sluice/op/map.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// The stages that elements pass unchanged, and whose positions contain none. Sorted.
constexpr std::array<std::string_view, 12> kForwarding{"assert_cardinality",
                                                       "drop_while",
                                                       "filter",
                                                       "ignore_errors",
                                                       "prefetch",
                                                       "repeat",
                                                       "shard",
                                                       "shuffle",
                                                       "skip",
                                                       "take",
                                                       "take_while",
                                                       "with_options"};

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

/// Has the stages upstream of a map build fewer members.
class column_pruning {
 public:
  explicit column_pruning(std::uint64_t rule_bit) : bit_(rule_bit) {}

  /// Returns a form of `n` that builds the members `wanted` of its structures, and perhaps others; `n` if it has none.
  node_ptr narrowed(const node_ptr& n, names_read wanted, const in_force& settings) {
    if (settings.is_fixed || (settings.rules_off & bit_)) return refused(n, "it runs as written");
    const element_type& row = row_of_elements(*n->type);
    if (row.kind != kind::structure || has_only(row, wanted)) return n;
    if (n->op->for_columns) return reader(n, wanted, settings);
    if (n->op->name == "map") return struct_map(n, std::move(wanted), settings);
    if (n->op->name == "interleave" || n->op->name == "flat_map") return inner(n, wanted, settings);
    if (n->inputs.size() != 1) return n;
    const bool stacks = n->op->name == "batch" || n->op->name == "rebatch";
    if (stacks && !settings.trusts) wanted.add(members_that_may_not_stack(row));
    if (!stacks && n->op->name != "unbatch" && !std::ranges::binary_search(kForwarding, n->op->name))
      return refused(n, "it needs whole elements");
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

  node_ptr reader(const node_ptr& n, const names_read& wanted, const in_force& settings) {
    const std::vector<std::string> names = at_least_one(row_of_elements(*n->type), wanted);
    std::string why;
    node copy = *n;
    copy.arguments = n->op->for_columns(*n, names, settings.trusts, why);
    if (!why.empty()) return refused(n, why);
    if (n->op->arguments().equal(copy.arguments.get(), n->arguments.get())) return n;
    node_ptr made = remade(std::move(copy), prune_columns.info.name);
    return made->type == n->type ? n : made;
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

  node_ptr struct_map(const node_ptr& n, names_read wanted, const in_force& settings) {
    const stage_function& f = *n->as<map_arguments>().function.value;
    if (!f.as_expression()) return refused(n, "its function is no expression");
    if (f.draws) return refused(n, "it draws random numbers, which are numbered in the order of its parts");
    expression_tree tree = f.as_expression()->tree();
    if (tree.kind != expression_tree::structure) return refused(n, "its function makes no structure of its own");
    if (!settings.trusts) wanted.add(parts_that_may_fail(tree, *n, wanted));
    if (has_only(*n->type, wanted)) return refused(n, "the other members may fail");
    const std::vector<std::string> names = at_least_one(*n->type, wanted);
    std::vector<member> members;
    for (std::size_t i = tree.names.size(); i-- != 0;) {
      if (std::ranges::binary_search(names, tree.names[i])) continue;
      tree.names.erase(tree.names.begin() + static_cast<std::ptrdiff_t>(i));
      tree.parts.erase(tree.parts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (const member& m : n->type->members)
      if (std::ranges::binary_search(names, m.name)) members.push_back(m);
    map_arguments a = n->as<map_arguments>();
    a.function.value = f.with_expression(expressions::printed(tree), struct_of({}, std::move(members)));
    node copy = *n;
    copy.arguments = arguments::of(std::move(a));
    std::shared_ptr<node_history> h = history_of(*n, prune_columns.info.name);
    h->written = bare(*n);
    copy.history = std::shared_ptr<const node_history>(std::move(h));
    return make_node(std::move(copy));
  }

  /// Returns the parts, other than those wanted, whose errors would disappear with them.
  static names_read parts_that_may_fail(const expression_tree& tree, const node& map, const names_read& wanted) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i != tree.names.size(); ++i) {
      if (std::ranges::binary_search(wanted.names(), tree.names[i]) || is_member(tree.parts[i])) continue;
      node part = map;
      map_arguments a = map.as<map_arguments>();
      const element_type* type = member_type(*map.type, tree.names[i]);
      a.function.value = a.function.value->with_expression(expressions::printed(tree.parts[i]), type);
      part.arguments = arguments::of(std::move(a));
      if (make_node(std::move(part))->as<map_arguments>().function.value->facts.may_fail)
        names.push_back(tree.names[i]);
    }
    std::ranges::sort(names);
    return names_read(std::move(names));
  }
  /// Returns true for a member of the element, whose copy cannot fail.
  static bool is_member(const expression_tree& e) {
    if (e.kind == expression_tree::name) return e.text != "it";
    return e.kind == expression_tree::member && e.parts[0].kind == expression_tree::name && e.parts[0].text == "it";
  }
  static const element_type* member_type(const element_type& t, std::string_view name) {
    for (const member& m : t.members)
      if (m.name == name) return m.type;
    return nullptr;
  }

  std::uint64_t bit_;
  std::string why_{};
};

/// Returns true if a reader of columns is upstream, so that a user may expect the rule to act.
bool reads_columns(const node& n) {
  if (n.op->for_columns) return true;
  bool found = !n.inputs.empty() && reads_columns(*n.inputs[0]);
  for_each_plan(n, [&found](const node_ptr& inner) { found |= reads_columns(*inner); });
  return found;
}

node_ptr with_columns_pruned(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (!n->op->facts.uses_members_read || n->inputs.empty()) return n;
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
    {"prune_columns", "readers and maps build only the members that a map or group_by downstream reads"},
    with_columns_pruned};

}  // namespace sluice::lib
