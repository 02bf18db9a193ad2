// SPDX-License-Identifier: Apache-2.0
// skip_by_bounds: a filter directly after a source that knows bounds of the values in its parts, such as the row groups of
// a Parquet file, has the source skip the parts in which no element satisfies the filter.
//
//   parquet("a.parquet") | filter(x > 3 && name == "a")
//
// The text of the plan stays the same: the filter still tests all elements that are read. Those that are skipped count as
// elements of the source, and have their numbers, so counts, positions, index() and random() are the same. The comparisons
// are those that the condition requires, of a member with a literal. The rest of the condition must not fail either: its
// errors at skipped elements would disappear. The bytes of a skipped group are not read, and damage in them is not found,
// with and without `trust`, as in the columns of a Parquet file that nobody reads (prune_columns).
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/expressions/fused_expressions.hpp"
#include "expr/tree.hpp"
#include "optimizer/rule.hpp"
#include "plan/member_comparison.hpp"
#include "sluice/expr/expression.hpp"
#include "sluice/op/filter.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {
namespace {

/// Returns the member that the expression is; "": the element itself. nullopt: it is something else.
std::optional<std::string> compared_member(const expression_tree& e) {
  if (e.kind == expression_tree::name) return e.text == "it" ? std::string() : e.text;
  const bool is_of_element =
      e.kind == expression_tree::member && e.parts[0].kind == expression_tree::name && e.parts[0].text == "it";
  return is_of_element ? std::optional(e.text) : std::nullopt;
}

/// Reads a number as expressions spell it. Returns false for numbers that are neither an int64 nor a double.
bool read_number(std::string_view text, bool is_negative, member_comparison& to) {
  std::string signed_text = (is_negative ? "-" : "") + std::string(text);
  const bool is_float = signed_text.ends_with('f') && signed_text.find_first_of(".e") != std::string::npos;
  if (is_float || signed_text.ends_with('u')) signed_text.pop_back();
  const char *begin = signed_text.data(), *end = begin + signed_text.size();
  if (auto [at, why] = std::from_chars(begin, end, to.whole_value); why == std::errc() && at == end && !is_float) {
    to.literal = member_comparison::whole;
    return true;
  }
  if (signed_text.find_first_not_of("-+.e0123456789") != std::string::npos) return false;
  if (signed_text.find_first_of(".e") == std::string::npos) return false;  // an integer that is too large
  auto [at, why] = std::from_chars(begin, end, to.real_value);
  if (why != std::errc() || at != end) return false;
  if (is_float) to.real_value = static_cast<double>(static_cast<float>(to.real_value));
  to.literal = member_comparison::real;
  return true;
}

bool read_literal(const expression_tree& e, member_comparison& to) {
  if (e.kind == expression_tree::number) return read_number(e.text, false, to);
  if (e.kind == expression_tree::unary && e.text == "-" && e.parts[0].kind == expression_tree::number)
    return read_number(e.parts[0].text, true, to);
  if (e.kind != expression_tree::text_) return false;
  to.literal = member_comparison::text;
  to.text_value = e.text;
  return true;
}

/// `is_reversed`: the literal is on the left.
std::optional<member_comparison::operator_type> comparison_of(std::string_view op, bool is_reversed) {
  if (op == "==") return member_comparison::equal;
  if (op == (is_reversed ? ">" : "<")) return member_comparison::less;
  if (op == (is_reversed ? ">=" : "<=")) return member_comparison::less_equal;
  if (op == (is_reversed ? "<=" : ">=")) return member_comparison::greater_equal;
  if (op == (is_reversed ? "<" : ">")) return member_comparison::greater;
  return std::nullopt;
}

/// Adds the comparisons of members with literals that must hold for the condition to hold.
void add_comparisons(const expression_tree& e, std::vector<member_comparison>& to) {
  if (e.kind != expression_tree::binary) return;
  if (e.text == "&&")
    for (const expression_tree& part : e.parts) add_comparisons(part, to);
  for (std::size_t k : {0u, 1u}) {
    const auto op = comparison_of(e.text, k == 1);
    const auto member = compared_member(e.parts[k]);
    member_comparison c;
    if (!op || !member || !read_literal(e.parts[1 - k], c)) continue;
    c.op = *op;
    c.member = *member;
    to.push_back(std::move(c));
  }
}

/// Returns the elements of its source that the filter need not see; or none, with the reason in `why`.
std::vector<element_run> excluded_by(const node& filter, const in_force& settings, std::string& why) {
  const node& source = *filter.inputs[0];
  const stage_function& condition = *filter.as<filter_arguments>().function.value;
  const auto* expression = dynamic_cast<const fusable_expression*>(&condition);
  std::vector<member_comparison> comparisons;
  if (expression) add_comparisons(expression->part().text->tree(), comparisons);
  if (comparisons.empty()) why = "its condition does not require that a member is <, <=, ==, >= or > a literal";
  else if (condition.facts.may_fail) why = "it may fail at rows that would be skipped";
  else if (settings.drops_at(filter) || settings.upstream_of(filter).drops_at(source))
    why = "it counts its own elements under on_error=skip";
  if (!why.empty()) return {};
  std::vector<element_run> runs = source.op->facts.excluded(source, comparisons);
  if (runs.empty())
    why = "the bounds of its values, as far as they are known before the run, exclude none of its parts";
  return runs;
}

/// Returns the source, which knows that its consumer skips these elements.
node_ptr with_unread(const node& source, const std::vector<element_run>& runs) {
  node copy = source;
  auto h = copy.history ? std::make_shared<node_history>(*copy.history) : std::make_shared<node_history>();
  h->unread = runs;
  copy.history = std::move(h);
  return make_node(std::move(copy));
}

node_ptr with_parts_skipped(const node_ptr& n, const in_force& settings, rule_notes& notes) {
  if (n->op->name != "filter" || !n->inputs[0]->op->facts.excluded) return n;
  if (n->history && !n->history->excluded.empty()) return n;
  std::string why;
  std::vector<element_run> runs = excluded_by(*n, settings, why);
  if (runs.empty()) {
    notes.refuse(skip_by_bounds.info.name, stage_text(*n) + " reads all of " + stage_text(*n->inputs[0]) + ": " + why);
    return n;
  }
  node skipping = *n;
  skipping.inputs[0] = with_unread(*n->inputs[0], runs);
  std::shared_ptr<node_history> h = history_of(skipping, skip_by_bounds.info.name);
  h->excluded = std::move(runs);
  skipping.history = std::shared_ptr<const node_history>(std::move(h));
  return make_node(std::move(skipping));
}

}  // namespace

const rule skip_by_bounds{
    {"skip_by_bounds", "a filter skips parts of its source, such as row groups, in which no element satisfies it"},
    with_parts_skipped};

}  // namespace sluice::lib
