// SPDX-License-Identifier: Apache-2.0
// Builds stages from the texts of expressions.
#include "sluice/plan/expression_function.hpp"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/closest.hpp"
#include "element/batches/blocks.hpp"
#include "engine/expressions/expression_forms.hpp"
#include "engine/expressions/fused_expressions.hpp"
#include "engine/lowering/element_specs.hpp"
#include "expr/checking/checker.hpp"
#include "expr/checking/field_names.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/program.hpp"
#include "expr/tree.hpp"
#include "sluice/engine/detail/functions.hpp"

namespace sluice::lib {

namespace {

struct expression_map final : block_function, knows_spec, fusable_expression {
  compiled_expression c;
  const expression read;
  const element_type* wanted_type;
  expression_map(const expression& e, const element_type& in, const element_type* wanted)
      : c(e, in, wanted), read(e), wanted_type(wanted) {
    describe_expression(*this, e, c, &c.p->type());
    captured = c.used.values();
  }
  function_ptr for_input(const element_type& other) const override {
    return std::make_shared<expression_map>(read, other, wanted_type);
  }
  const expression* as_expression() const override { return &read; }
  function_ptr with_expression(std::string_view text, const element_type* wanted) const override {
    return expression_function(expression(text), {}, wanted);
  }
  spec spec_for(const spec& in) const override { return spec_of_expression(read.tree(), *out, in); }
  applied apply(const block& in, void* to, const element_place& first) const override {
    applied a;
    a.done = c.p->apply(in.data(), in.size(), to, first.ordinal, first.seed, a.why);
    return a;
  }
  fused_part part() const override { return {&read, in, wanted_type, false}; }
};

struct expression_filter final : predicate_function, fusable_expression {
  compiled_expression c;
  const expression read;
  expression_filter(const expression& e, const element_type& in) : c(e, in, nullptr, {.is_condition = true}), read(e) {
    if (&c.p->type() != &type_of<bool>())
      throw expression_error(e.tree().at,
                             absl::StrCat("the condition must be bool, and ", expressions::cut(e.text()), " is ",
                                          expressions::shown(c.p->type()),
                                          expressions::way_to_condition(expressions::cut(e.text()), c.p->type())));
    describe_expression(*this, e, c, &in);
    captured = c.used.values();
  }
  function_ptr for_input(const element_type& other) const override {
    return std::make_shared<expression_filter>(read, other);
  }
  outcome keep(const block& in, const element_place& first) const override {
    answers yes;
    outcome o;
    while (o.seen != in.size() && o.why.ok()) {
      std::uint32_t tested = test(in, o.seen, first, yes, o.why);
      o.kept = move_up(in, o.kept, o.seen, yes.data(), tested);
      o.seen += tested;
    }
    return o;
  }
  outcome keep_while(const block& in, const element_place& first) const override {
    answers yes;
    outcome o;
    while (o.seen != in.size() && o.why.ok()) {
      std::uint32_t tested = test(in, o.seen, first, yes, o.why);
      auto leading = static_cast<std::uint32_t>(std::find(yes.begin(), yes.begin() + tested, false) - yes.begin());
      o.kept += leading;
      // Nothing is computed after the first element that is not kept, so errors there do not count.
      if (leading != tested) return {o.kept, o.kept + 1, {}};
      o.seen = o.kept;
    }
    return o;
  }
  fused_part part() const override { return {&read, in, nullptr, true}; }

 private:
  static constexpr std::uint32_t kAtOnce = 1024;
  using answers = std::array<bool, kAtOnce>;

  /// Tests the elements from the i-th on. Returns the number of elements that have an answer.
  std::uint32_t test(const block& in, std::uint32_t i, const element_place& first, answers& yes, status& why) const {
    return c.p->test(in.at(i), std::min(in.size() - i, kAtOnce), yes.data(), first.ordinal + i, first.seed, why);
  }
};

struct unbound_expression final : unbound_function {
  expression e;
  std::string otherwise;
  const element_type* wanted;
  unbound_expression(expression read, std::string why, const element_type* type)
      : e(std::move(read)), otherwise(std::move(why)), wanted(type) {
    name = e.text();
    version = kExpressionLanguageVersion;
    is_expression = true;
    values_known = true;
  }

  function_ptr bind(const bind_context& context, bool (*accepts)(const stage_function&)) const override {
    const element_type& in = context.in;
    const bool is_state = context.initial && e.tree().text == "state";
    if (!otherwise.empty() && !is_field(in) && !is_state)
      throw expression_error(e.tree().at, otherwise + fields_of(in, takes_field(accepts)));
    if (auto key = as_key(in, accepts)) return key;
    if (auto state = as_state(context, accepts)) return state;
    // f(it) is f.
    if (function_ptr f = call_alone(in, accepts)) return f;
    if (accepts(probes_of_expressions().look)) return make_expression_look(e, in);
    auto map = std::make_shared<expression_map>(e, in, wanted);
    if (accepts(probes_of_expressions().opens)) return make_expression_list(e, in, wanted, std::move(map));
    if (accepts(*map)) return map;
    if (!accepts(probes_of_expressions().filter))
      throw expression_error(
          e.tree().at,
          "no expression can be this function, which does not make a value of an element; register one in "
          "C++ (SLUICE_FUNCTION), and write its name");
    return std::make_shared<expression_filter>(e, in);
  }

 private:
  static bool takes_field(bool (*accepts)(const stage_function&)) {
    return accepts(probes_of_expressions().key) || accepts(probes_of_expressions().rank);
  }
  /// Returns null if the stage accepts no key, rank or aggregates.
  function_ptr as_key(const element_type& in, bool (*accepts)(const stage_function&)) const {
    if (accepts(probes_of_expressions().key)) return make_expression_key(e, in);
    if (accepts(probes_of_expressions().rank)) return make_expression_rank(e, in);
    return accepts(probes_of_expressions().aggregates) ? make_expression_aggregates(e, in, wanted) : nullptr;
  }
  /// Returns the first column that is a number, or `it`, for messages.
  static std::string number_in(const element_type& in) {
    if (in.kind == kind::structure)
      for (const member& m : in.members)
        if (m.type->kind == kind::scalar && m.type != &type_of<bool>()) return m.name;
    return "it";
  }
  /// Returns the function of a stage that has a state; null if the stage accepts another one.
  function_ptr as_state(const bind_context& context, bool (*accepts)(const stage_function&)) const {
    const bool makes_elements = accepts(probes_of_expressions().scan);
    if (!makes_elements && !accepts(probes_of_expressions().reduce)) return nullptr;
    auto* initial = dynamic_cast<const unbound_expression*>(context.initial);
    if (!initial)
      throw expression_error(e.tree().at, "an expression needs an initial state before it, as in (0, state + " +
                                              number_in(context.in) + ")");
    return make_expression_state(e, initial->e, context.in, wanted, makes_elements);
  }
  /// Returns the fields or functions that may be meant: ", and no field is named scores; did you mean score?"
  /// `prefers_fields`: the stage takes a field, and not the name of a function.
  std::string fields_of(const element_type& in, bool prefers_fields) const {
    constexpr std::size_t kFieldsMax = 300;
    if (otherwise.ends_with('?')) return {};  // a registered function has a similar name
    const bool is_unknown = otherwise.find("there is no function") != otherwise.npos;
    const std::string function = is_unknown ? similar_built_in() : std::string();
    if (!in.has_members()) {
      if (!function.empty()) return function;
      return absl::StrCat(is_unknown ? "; `sluice ops` lists the functions" : "", "; the element is `it`, as in ",
                          in.kind == kind::text ? "upper(it)" : "it + 1");
    }
    const std::vector<std::string> names = expressions::names_of(in);
    std::string similar = expressions::similar_name(e.text(), names);
    if (similar.empty() && !prefers_fields) similar = function;
    return absl::StrCat(", and no field is named ", e.text(),
                        !similar.empty() ? similar
                        : names.empty()
                            ? ", since it has none"
                            : "; the fields are " + expressions::cut(absl::StrJoin(names, ", "), kFieldsMax));
  }
  /// Returns "; did you mean upper(it)?"
  std::string similar_built_in() const {
    const std::string similar = detail::did_you_mean(e.text(), built_in_function_names());
    return similar.empty() ? similar : similar.substr(0, similar.size() - 1) + "(it)?";
  }
  bool is_field(const element_type& in) const {
    if (e.tree().text == "it" || e.tree().kind != expression_tree::name) return true;
    const element_type& row = in.kind == kind::batch ? *in.element : in;
    for (auto& m : row.members)
      if (m.name == e.tree().text) return true;
    return false;
  }
  function_ptr call_alone(const element_type& in, bool (*accepts)(const stage_function&)) const {
    const expression_tree& t = e.tree();
    bool is_call = t.kind == expression_tree::call && t.names.empty() && t.parts.size() == 1 &&
                   t.parts[0].kind == expression_tree::name && t.parts[0].text == "it";
    if (!is_call || wanted) return nullptr;
    for (auto& f : find_functions(t.text))
      if (f->in == &in && accepts(*f)) return f;
    return nullptr;
  }
};

}  // namespace

function_ptr expression_function(expression e, std::string otherwise, const element_type* wanted) {
  return std::make_shared<unbound_expression>(std::move(e), std::move(otherwise), wanted);
}

}  // namespace sluice::lib
