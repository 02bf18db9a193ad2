// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/map.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/fused_stage.hpp"
#include "engine/lowering/mapped_stage.hpp"
#include "engine/lowering/types.hpp"
#include "expr/tree.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/expr/expression.hpp"

namespace sluice::lib {
namespace {

bool is_named(const std::vector<std::string>& sorted, const std::string& name) {
  return std::ranges::binary_search(sorted, name);
}

/// Returns true for a member of the element, whose copy cannot fail.
bool is_copied_member(const expression_tree& e) {
  if (e.kind == expression_tree::name) return e.text != "it";
  return e.kind == expression_tree::member && e.parts[0].kind == expression_tree::name && e.parts[0].text == "it";
}

/// Returns true if the part of the structure with this name may fail.
bool may_part_fail(const node& n, const std::string& name, const expression_tree& part) {
  if (is_copied_member(part)) return false;
  const auto made = std::ranges::find(n.type->members, name, &member::name);
  if (made == n.type->members.end()) return true;
  node alone = n;
  map_arguments a = n.as<map_arguments>();
  a.function.value = a.function.value->with_expression(expressions::printed(part), made->type);
  alone.arguments = arguments::of(std::move(a));
  return make_node(std::move(alone))->as<map_arguments>().function.value->facts.may_fail;
}

/// A map by an expression that makes a structure keeps the parts with these names, and those that may fail.
arguments map_for_columns(const node& n, const std::vector<std::string>& names, bool trust, std::string& why) {
  map_arguments a = n.as<map_arguments>();
  const stage_function& f = *a.function.value;
  if (!f.as_expression()) return why = "its function is no expression", n.arguments;
  if (f.draws) return why = "it draws random numbers, which are numbered in the order of its parts", n.arguments;
  expression_tree tree = f.as_expression()->tree();
  if (tree.kind != expression_tree::structure) return why = "its function makes no structure of its own", n.arguments;
  const std::size_t whole = tree.names.size();
  for (std::size_t i = whole; i-- != 0;) {
    if (is_named(names, tree.names[i]) || (!trust && may_part_fail(n, tree.names[i], tree.parts[i]))) continue;
    tree.names.erase(tree.names.begin() + static_cast<std::ptrdiff_t>(i));
    tree.parts.erase(tree.parts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (tree.names.size() == whole) return why = "the other members may fail", n.arguments;
  std::vector<member> members;
  for (const member& m : n.type->members)
    if (std::ranges::find(tree.names, m.name) != tree.names.end()) members.push_back(m);
  a.function.value = f.with_expression(expressions::printed(tree), struct_of({}, std::move(members)));
  return arguments::of(std::move(a));
}

/// A list of two numbers, because neither has a meaning without the other.
class element_sizes_codec final : public codec {
 public:
  void print(const void* p, printer& to) const override {
    const std::vector<std::int64_t> both = {get(p).before, get(p).after};
    if (get(p).is_given()) numbers_.print(&both, to);
    else to.nothing();
  }
  void read(void* p, const argument& a, reading& r) const override {
    std::vector<std::int64_t> both = {0, 0};
    if (a.kind != argument::null && a.text != "nothing") numbers_.read(&both, a, r);
    if (both.size() != 2) r.expected(a, "[BEFORE, AFTER], two numbers of bytes");
    *static_cast<element_sizes*>(p) = {both[0], both[1]};
  }
  std::string check(const void* p) const override {
    const element_sizes& s = get(p);
    if (!s.is_given() || (s.before >= 1 && s.after >= 1)) return {};
    return " must be two numbers of at least 1, and has " + std::to_string(s.before) + " and " +
           std::to_string(s.after);
  }
  bool is_knob() const override { return true; }
  bool equal(const void* a, const void* b) const override {
    return get(a).before == get(b).before && get(a).after == get(b).after;
  }
  std::string type_name() const override { return "[before, after] or nothing"; }

 private:
  static const element_sizes& get(const void* p) { return *static_cast<const element_sizes*>(p); }
  const detail::list_codec<std::int64_t> numbers_;
};

}  // namespace

template <> const codec& codec_of<element_sizes>() {
  static const element_sizes_codec c;
  return c;
}

const op_info map_op{
    .name = "map",
    .doc = "each element becomes f(element)",
    .arguments = arguments_of<map_arguments>,
    .for_columns = map_for_columns,
    .type = [](const node& n, std::string& why) -> const element_type* {
      return type_of_function(n, n.as<map_arguments>().function.value, why);
    },
    .spec =
        [](const node& n) {
          auto* f = dynamic_cast<const knows_spec*>(n.as<map_arguments>().function.value.get());
          return f ? f->spec_for(element_spec_of(*n.inputs[0])) : spec_of(*n.type);
        },
    .facts = {.always = {.outputs = output_count::one_per_input,
                         .keeps_order = true,
                         .may_fail = false,
                         .uses_place = false,
                         .has_record = false},
              .refine = [](const node& n, stage_facts& f) { note_order(f, n.as<map_arguments>().options.order); },
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .seeks = [](const node& n) { return n.as<map_arguments>().options.order == order::deterministic; },
              .members = member_use::read},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open =
                     [](const node& n, open_context& context) {
                       auto& a = n.as<map_arguments>();
                       return open_mapped(n, context, a.function.value, a.options);
                     },
                 .open_rows =
                     [](const node& n, open_context& context, const std::shared_ptr<row_landing>& landing) {
                       auto& a = n.as<map_arguments>();
                       return open_mapped_rows(n, context, a.function.value, a.options, landing);
                     },
                 .work =
                     [](const node& n) {
                       auto& a = n.as<map_arguments>();
                       return node_work{a.function.value, false, a.options.parallelism.value != 1, a.options.order,
                                        a.options.seed.value};
                     }},
};

}  // namespace sluice::lib
