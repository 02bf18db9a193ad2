// SPDX-License-Identifier: Apache-2.0
// Expressions as aggregates: group_by(city, {n: count(), total: sum(x)}). In the braces the outermost call of each member
// is an aggregate of the rows of a group, and its argument is computed for each row (aggregate_values.cpp).
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/expressions/aggregate_values.hpp"
#include "engine/expressions/expression_forms.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/functions/numbers.hpp"
#include "expr/program.hpp"
#include "sluice/engine/detail/aggregates.hpp"

namespace sluice::lib {
namespace {

using expressions::number;

[[noreturn]] void refuse_aggregate(const expression_tree& e, std::string_view what) {
  throw expression_error(e.at, what);
}

constexpr std::string_view kAggregates[] = {"count", "sum", "mean", "min", "max", "first"};
constexpr std::string_view kWays = "count(), count(x), sum(x), mean(x), min(x), max(x) or first(x)";

bool is_aggregate(const expression_tree& e) {
  return e.kind == expression_tree::call && std::ranges::find(kAggregates, e.text) != std::end(kAggregates);
}
/// Returns `{n: count()}` for count(), `{sum: sum(x)}` for sum(x).
std::string in_braces(const expression_tree& e) {
  return absl::StrCat("{", e.text == "count" ? "n" : e.text, ": ", expressions::shown(e), "}");
}
/// Returns the first aggregate within an expression; null if it has none.
const expression_tree* aggregate_in(const expression_tree& e) {
  if (is_aggregate(e)) return &e;
  for (const expression_tree& part : e.parts)
    if (const expression_tree* found = aggregate_in(part)) return found;
  return nullptr;
}
std::string message_of_no_aggregate(const expression_tree& e, const std::string& as) {
  const std::string written = expressions::shown(e);
  if (e.kind == expression_tree::call && !is_built_in_function(e.text) && find_functions(e.text).empty()) {
    static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"avg", "mean"},    {"average", "mean"},
                                                                                {"total", "sum"},   {"minimum", "min"},
                                                                                {"maximum", "max"}, {"any", "first"}};
    for (const auto& [other, ours] : kOthers)
      if (e.text == other && e.parts.size() == 1)
        return absl::StrCat(as, ": there is no aggregate ", e.text, "; write ", as, ": ", std::string(ours), "(",
                            expressions::shown(e.parts[0]), ")");
    return absl::StrCat(as, ": there is no aggregate ", e.text, "; there are ", std::string(kWays));
  }
  for (const std::string_view name : {"count", "sum", "mean", "min", "max", "first"})
    if (e.kind == expression_tree::name && e.text == name)
      return absl::StrCat(as, ": an aggregate is a call: write ", as, ": ", e.text,
                          name == "count" ? "()" : "(COLUMN)");
  const expression_tree* within = aggregate_in(e);
  if (within)
    return absl::StrCat(as, ": the outermost call must be an aggregate, ", std::string(kWays), "; write ", as, ": ",
                        expressions::shown(*within), ", and compute the rest in a map after group_by");
  return absl::StrCat(as, ": ", written, " is not an aggregate; write ", as, ": first(", written, "), or sum(", written,
                      "), mean(), min(), max() or count()");
}

/// Returns the type of a result, which is an optional if all values of a group may be missing.
const element_type* result_type(const element_type& t, bool is_optional) { return is_optional ? maybe_of(&t) : &t; }

struct expression_aggregates final : aggregate_function {
  std::vector<described_aggregate> described;
  const expression read;

  expression_aggregates(const expression& e, const element_type& in_type, const element_type* wanted_type) : read(e) {
    const expression_tree& t = e.tree();
    if (t.kind != expression_tree::structure)
      refuse_aggregate(t, absl::StrCat("the aggregates stand in braces, each with a name, as in ",
                                       is_aggregate(t)                   ? in_braces(t)
                                       : t.kind == expression_tree::name ? absl::StrCat("{total: sum(", t.text, ")}")
                                                                         : "{n: count(), total: sum(x)}"));
    name = e.text();
    version = kExpressionLanguageVersion;
    is_expression = true;
    in = &in_type;
    wanted = wanted_type;
    facts = {.concurrent = true, .pure = true, .may_fail = false};
    reads_columns = true;
    reads = names_read::none();
    std::vector<member> members;
    for (std::size_t k = 0; k != t.parts.size(); ++k) {
      described.push_back(describe(t.parts[k], t.names[k]));
      members.push_back({t.names[k], 0, described.back().type});
    }
    out = struct_of("", std::move(members));
  }
  std::unique_ptr<aggregate_states> make() const override { return states_of(described); }
  function_ptr for_input(const element_type& other) const override {
    return std::make_shared<expression_aggregates>(read, other, wanted);
  }

 private:
  described_aggregate describe(const expression_tree& e, const std::string& as) {
    if (!is_aggregate(e)) refuse_aggregate(e, message_of_no_aggregate(e, as));
    described_aggregate d;
    d.function = e.text;
    const bool is_count = e.text == "count";
    if (!e.names.empty())
      refuse_aggregate(e, absl::StrCat(e.text, " has no arguments by name; to compare, write == in place of ="));
    if (e.parts.size() > 1 || (e.parts.empty() && !is_count))
      refuse_aggregate(e, absl::StrCat(e.text, " as an aggregate takes ", is_count ? "no value, or one" : "one value",
                                       ", and has ", e.parts.size()));
    if (!e.parts.empty()) {
      const expression_tree& of = e.parts[0];
      auto c = std::make_shared<compiled_expression>(expression(expressions::printed(of), of.at), *in, nullptr,
                                                     expression_scope{.is_looked_at = true});
      captured = derive(captured, c->used.values());
      values_known &= c->used.values_known();
      add_facts_of(*c);
      reads_columns &= c->p->reads_columns();
      const element_type& t = c->p->type();
      d.value.is_optional = t.kind == kind::maybe;
      d.value.type = d.value.is_optional ? t.element : &t;
      d.value.c = std::move(c);
      check_value(e, d);
    }
    d.type = type_of_result(d);
    return d;
  }
  void add_facts_of(const compiled_expression& c) {
    const function_facts more = facts_of(c);
    facts.concurrent &= more.concurrent;
    facts.pure &= more.pure;
    facts.may_fail |= more.may_fail;
    reads.add(members_read_by(c));
  }
  static void check_value(const expression_tree& e, const described_aggregate& d) {
    const element_type& t = *d.value.type;
    const bool is_number = d.value.kind() != number::none;
    const bool needs_number = e.text == "sum" || e.text == "mean";
    const bool needs_order = e.text == "min" || e.text == "max";
    const bool fits = needs_number ? is_number : needs_order ? is_number || t.kind == kind::text : true;
    if (!fits || !t.copy || !d.value.c->p->type().copy)
      refuse_aggregate(e.parts[0], absl::StrCat(e.text, ": expects ",
                                                needs_number  ? "a number"
                                                : needs_order ? "a number or a text"
                                                              : "a value that can be copied",
                                                ", and ", expressions::subject(e.parts[0]), " is ",
                                                expressions::shown(d.value.c->p->type())));
  }
  static const element_type* type_of_result(const described_aggregate& d) {
    if (d.function == "count") return &type_of<std::int64_t>();
    if (d.value.kind() == number::none) return result_type(*d.value.type, d.value.is_optional);
    if (d.function == "sum") return result_type(type_of_sum(d.value.kind()), d.value.is_optional);
    if (d.function == "mean") return result_type(type_of<double>(), d.value.is_optional);
    return expressions::with_number(
        d.value.kind(), [&]<class T>(std::type_identity<T>) { return result_type(type_of<T>(), d.value.is_optional); });
  }
};

}  // namespace

function_ptr make_expression_aggregates(const expression& e, const element_type& in, const element_type* wanted) {
  return std::make_shared<expression_aggregates>(e, in, wanted);
}

std::string column_named_by(const stage_function& f) {
  if (!f.is_expression) return {};
  try {
    const expression_tree t = expressions::read_expression(f.name, 1);
    const bool is_name = t.kind == expression_tree::name || t.kind == expression_tree::member;
    return is_name && t.text != "it" ? t.text : std::string();
  } catch (const expression_error&) { return {}; }
}

std::string text_for_column(const stage_function& f, std::string_view argument) {
  if (!f.is_expression) return {};
  try {
    const expression_tree t = expressions::read_expression(f.name, 1);
    if (t.kind != expression_tree::text_) return {};
    const std::string column = expressions::is_plain_word(t.text) ? t.text : absl::StrCat("`", t.text, "`");
    return absl::StrCat(std::string(argument), " is the text ", f.name,
                        ", which is the same for every element; a column is named without quotes: ", column);
  } catch (const expression_error&) { return {}; }
}

}  // namespace sluice::lib