// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/text/closest.hpp"
#include "expr/default_options.hpp"
#include "expr/program.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/text/plan_builder.hpp"
#include "sluice/expr/expression.hpp"
#include "sluice/plan/expression_function.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib::detail {

namespace {

/// {"name": …, "version": …}
struct written_function {
  const argument* name = nullptr;
  const argument* version = nullptr;
};

written_function parts_of(const argument& a, const reading& r) {
  written_function w;
  for (const argument& item : a.items) {
    auto*& member = item.name == "name" ? w.name : w.version;
    if (item.name != "name" && item.name != "version") r.fail(a, absl::StrCat("a function has no \"", item.name, "\""));
    if (member) r.fail(a, absl::StrCat("\"", item.name, "\" is given twice"));
    member = &item;
  }
  if (!w.name || !w.version) r.fail(a, absl::StrCat("a function lacks \"", w.name ? "version" : "name", "\""));
  if (w.name->kind != argument::string) r.fail(a, "a function's name is a string, and this is " + w.name->shown());
  return w;
}

}  // namespace

namespace {

function_ptr read_expression(const argument& a, const reading& r, std::string_view text, std::size_t column,
                             std::string otherwise = {}) {
  try {
    return expression_function(expression(text, column), std::move(otherwise));
  } catch (const expression_error& e) {
    if (a.kind == argument::object)
      r.fail(a, absl::StrCat(e.message(), " (column ", e.column(), " of the expression)"));
    // A stage's only function needs no name in a message.
    const std::string path = r.step() == "function" ? r.path().substr(0, r.path().find(':')) : r.path();
    throw misplaced{e.column(), absl::StrCat(path, ": ", e.message())};
  }
}

/// {"expression": "it + 1"}. Like any text, an expression that is not UTF-8 is a list of its bytes.
std::optional<std::string> expression_in(const argument& a, const reading& r) {
  const argument* text = a.kind == argument::object ? a.find("expression") : nullptr;
  if (!text) return std::nullopt;
  if (a.items.size() != 1) r.fail(a, "an \"expression\" stands alone");
  if (!is_text_argument(*text)) r.fail(a, "an expression is a string, and this is " + text->shown());
  return text_of(*text);
}

}  // namespace

function_ptr read_any_expression(const argument& a, const reading& r) {
  if (auto text = expression_in(a, r)) return read_expression(a, r, *text, 1);
  if (a.source.empty()) r.expected(a, "an expression");
  return read_expression(a, r, a.source, a.at);
}

function_ptr read_function(const argument& a, const reading& r, function_filter accepts, std::string_view what) {
  // Only a word can be the name of a function.
  bool is_expression = a.kind == argument::expression || a.kind == argument::plan || a.kind == argument::list ||
                       a.kind == argument::number || a.kind == argument::quoted;
  if (is_expression && !a.source.empty()) return read_expression(a, r, a.source, a.at);
  if (auto text = expression_in(a, r)) return read_expression(a, r, *text, 1);
  if (a.kind != argument::word && a.kind != argument::object) r.expected(a, what);
  written_function w;
  if (a.kind == argument::object) w = parts_of(a, r);
  const std::string& name = w.name ? w.name->text : a.text;
  auto forms = find_functions(name);
  if (forms.empty()) {
    const std::string similar = did_you_mean(name, function_names());
    std::string why = is_built_in_function(name)
                          ? absl::StrCat(name, " is a function of expressions: write ", name, "(it)")
                          : absl::StrCat("there is no function ", name, similar);
    if (a.kind == argument::word)
      return read_expression(a, r, a.source, a.at,
                             r.step() == "function" ? why : absl::StrCat(std::string(r.step()), ": ", why));
    r.fail(a, why);
  }
  const stage_function& first = *forms[0];
  if (w.version && (w.version->kind != argument::number || w.version->text != std::to_string(first.version)))
    r.fail(a, absl::StrCat("the plan wants version ", w.version->shown(), " of ", name, ", and this program has ",
                           first.version));
  for (auto& f : forms) {
    if (!accepts(*f)) continue;
    // An overload is chosen when the element type is known. Options that are left out have their defaults.
    return f->is_overload || (f->in && options_in(*f->in)) ? read_expression(a, r, name + "(it)", a.at) : f;
  }
  r.fail(a, absl::StrCat(name, " cannot be its function: it makes ", first.out ? first.out->name : "something else",
                         first.in ? " of " + first.in->name : ""));
}

}  // namespace sluice::lib::detail
