// SPDX-License-Identifier: Apache-2.0
// Calls of built-in and registered functions.
#include "expr/checking/checker.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/closest.hpp"
#include "element/text/scan_text.hpp"
#include "expr/batch_parts.hpp"
#include "expr/checking/call_arguments.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/default_options.hpp"
#include "expr/expression_parts.hpp"

namespace sluice::lib::expressions {

namespace {

enum class fit : std::uint8_t { none, converted, exact };
fit fit_of(const call_arguments& arguments, const std::vector<computed_ptr>& parts) {
  if (!arguments.accepted()) return fit::none;
  fit worst = fit::exact;
  for (std::size_t k = 0; k != parts.size(); ++k) {
    const element_type& wanted = *arguments.type(k);
    if (!checker::may_become(*parts[k], wanted)) return fit::none;
    if (&parts[k]->type() != &wanted) worst = fit::converted;
  }
  return worst;
}

/// Returns `(int64, int64)`, or `int64` for one argument.
std::string parameters_of(const callable& f) {
  const element_type& in = f.in();
  if (in.kind != kind::pair && in.kind != kind::tuple) return shown(in);
  if (options_in(in)) return parameters_text(in);
  std::string out = "(";
  for (auto& m : in.members) absl::StrAppend(&out, out.size() == 1 ? "" : ", ", shown(*m.type));
  return cut(out) + ")";
}

}  // namespace

/// Chooses the function whose parameters are the arguments' types, or else the first function to whose parameters they
/// convert.
computed_ptr checker::registered(const expression_tree& e) {
  std::string why;
  auto overloads = functions_.named(e.text, why);
  if (overloads.empty()) {
    if (!why.empty()) fail(e, why);
    return nullptr;
  }
  // A function may have several forms for the same arguments, such as one for keys.
  const bool is_only =
      std::all_of(overloads.begin(), overloads.end(), [&](auto& f) { return &f->in() == &overloads[0]->in(); });
  const call_arguments of_only(e, *overloads[0]);
  if (is_only && !of_only.accepted())
    if (std::string mistake = of_only.why_not(); !mistake.empty()) fail(e, absl::StrCat(e.text, " ", mistake));
  std::vector<computed_ptr> parts;
  for (auto& part : e.parts) {
    // If only one function has the name, a literal structure or tuple gets the type of its parameter; nothing else
    // depends on it.
    bool is_made = part.kind == expression_tree::structure || part.kind == expression_tree::tuple;
    const element_type* wanted = is_only && is_made && of_only.accepted() ? of_only.type(parts.size()) : nullptr;
    parts.push_back(wanted ? make(part, *wanted) : make(part));
  }
  for (fit wanted : {fit::exact, fit::converted})
    for (auto& f : overloads)
      if (fit_of(call_arguments(e, *f), parts) == wanted) return called_with(e, f, std::move(parts));
  const bool wants_bytes = e.text.starts_with("decode_") && !parts.empty() && parts[0]->type().kind != kind::text;
  const std::string way = wants_bytes ? absl::StrCat("; ", e.text, "(read_file(path)) decodes a file") : "";
  for (std::size_t k = 0; is_only && k != parts.size(); ++k) {
    const element_type* wanted = of_only.type(k);
    if (wanted && !checker::may_become(*parts[k], *wanted))
      fail(e.parts[k], absl::StrCat(e.text, ": expects ", shown(*wanted), ", and ", subject(e.parts[k]), " is ",
                                    shown(parts[k]->type()), way_from_none(parts[k]->type(), *wanted), way));
  }
  std::string gets, takes;
  for (auto& part : parts) absl::StrAppend(&gets, gets.empty() ? "" : ", ", shown(part->type()));
  for (auto& f : overloads)
    if (!is_only || takes.empty()) absl::StrAppend(&takes, takes.empty() ? "" : " or ", parameters_of(*f));
  fail(e, absl::StrCat(e.text, " takes ", takes, ", and gets ",
                       parts.empty()       ? "nothing"
                       : parts.size() == 1 ? gets
                                           : "(" + gets + ")",
                       way));
}

computed_ptr checker::called_with(const expression_tree& e, const std::shared_ptr<const callable>& f,
                                  std::vector<computed_ptr> parts) {
  const call_arguments arguments(e, *f);
  for (std::size_t k = 0; k != parts.size(); ++k) {
    parts[k] = converted_to(e.parts[k], std::move(parts[k]), *arguments.type(k));
    note_copy(e.parts[k], *parts[k]);
  }
  if (f->draws()) need_place(e);
  functions_.note_call(*f);
  return std::make_unique<called>(f, arguments.combined(std::move(parts)), f->draws() ? note_draw() : 0);
}

namespace {

/// Returns true for the functions whose arguments may be optionals. All others are lifted: they are none if an argument
/// is none.
bool takes_optionals(std::string_view function) {
  return function == "some" || function == "has_value" || function == "is_none" || function == "value_or";
}

/// Refuses names in the call of a built-in function.
void refuse_names(const expression_tree& e) {
  for (std::size_t k = 0; k != e.names.size(); ++k)
    if (!e.names[k].empty())
      checker::fail(e, absl::StrCat(e.text, " has no arguments by name, and gets ", e.names[k], "=; to compare, write ",
                                    e.names[k], " == ", shown(e.parts[k])));
}

}  // namespace

computed_ptr checker::built_in_call(const expression_tree& e, make_built_in make_it) {
  refuse_names(e);
  std::vector<computed_ptr> parts;
  const bool has_optionals = takes_optionals(e.text);
  for (auto& part : e.parts) {
    // A value that replaces an optional's missing value has its type.
    const bool is_made = part.kind == expression_tree::structure || part.kind == expression_tree::tuple ||
                         part.kind == expression_tree::list;
    const bool is_otherwise =
        e.text == "value_or" && is_made && parts.size() == 1 && parts[0]->type().kind == kind::maybe;
    const bool is_optional = has_optionals && e.text != "some" && parts.empty();
    parts.push_back(is_otherwise  ? make(part, *parts[0]->type().element)
                    : is_optional ? make_optional(part)
                                  : make(part));
    computed_ptr& made = parts.back();
    if (is_column(made->type()) && e.text != "length") made = column_alone(part, std::move(made));
  }
  // Scalar tensors have no length, and a list of batch rows is built first.
  for (auto& part : parts) may_fail_ |= part->type().kind == kind::tensor || part->type().kind == kind::batch;
  auto make_value = [&](std::vector<computed_ptr> values) {
    function_arguments arguments{*this, e, std::move(values)};
    return at(e, [&] { return make_it(arguments); });
  };
  return has_optionals ? make_value(std::move(parts)) : lift(e, std::move(parts), make_value);
}

namespace {

/// Returns "; csv is a stage: …" for a reader that is called in an expression; empty for other names.
std::string way_to_reader(const expression_tree& e) {
  for (const std::string_view reader : {"csv", "jsonl", "lines", "tfrecord", "from_arrow", "parquet", "npy", "tar"})
    if (e.text == reader)
      return absl::StrCat("; ", e.text, " is a stage, which reads all files of a pattern: write ", e.text, "(\"",
                          reader == "csv" ? "*.csv\", header=true)" : "data/*\")");
  return {};
}

}  // namespace

computed_ptr checker::call(const expression_tree& e) {
  if (e.text == "if") {
    refuse_names(e);
    return condition(e);
  }
  if (auto make_it = find_built_in(e.text)) return built_in_call(e, make_it);
  if (auto made = registered(e)) return made;
  // int(x) is int64(x), and str(x) is string(x).
  const std::string_view type = detail::usual_type_name(e.text);
  if (auto make_it = type == e.text ? nullptr : find_built_in(type)) return built_in_call(e, make_it);
  std::vector<std::string> known = built_in_names();
  for (std::string& name : functions_.names()) known.push_back(std::move(name));
  std::string way = way_to_function(e);
  if (way.empty()) way = way_to_reader(e);
  if (way.empty()) way = detail::did_you_mean(e.text, known);
  if (way.empty()) way = "; `sluice ops` lists the functions";
  fail(e, absl::StrCat("there is no function ", e.text, way));
}

// --- Requests of built-in functions. ---

void function_arguments::expected(std::size_t k, std::string_view what) const {
  checker::fail(e.parts[k], absl::StrCat(e.text, ": expects ", std::string(what), ", and ", subject(e.parts[k]), " is ",
                                         shown(parts[k]->type()),
                                         check.is_name_in_quotes(e.parts[k])
                                             ? absl::StrCat("; a column is named without quotes: ", e.parts[k].text,
                                                            way_over_rows(e.text, what, e.parts[k].text))
                                             : way_to_argument(e.text, what, shown(e.parts[k]), parts[k]->type())));
}

namespace {

/// Returns "; as in replace(text, old, new)" for functions whose arguments are not obvious.
std::string_view example_of(std::string_view function) {
  static constexpr std::pair<std::string_view, std::string_view> kExamples[] = {
      {"replace", "; as in replace(text, old, new)"},
      {"clamp", "; as in clamp(x, least, most)"},
      {"contains", "; as in contains(text, part)"},
      {"starts_with", "; as in starts_with(text, part)"},
      {"ends_with", "; as in ends_with(text, part)"},
      {"find", "; as in find(text, part)"},
      {"join", "; as in join(list, separator)"},
      {"split", "; as in split(text, separator)"},
      {"value_or", "; as in value_or(x, otherwise)"},
      {"pow", "; as in pow(x, y)"},
      {"fmod", "; as in fmod(x, y)"},
      {"cast", "; as in cast(tensor, \"float32\")"},
      {"reshape", "; as in reshape(tensor, [28, -1])"},
      {"decode_raw", "; as in decode_raw(text, \"float32\")"},
      {"parse_json", "; as in parse_json(text, \"int64\")"}};
  for (const auto& [name, example] : kExamples)
    if (name == function) return example;
  return {};
}

}  // namespace

void function_arguments::need(std::size_t least, std::size_t most) const {
  if (count() >= least && count() <= most) return;
  std::string range = least == most      ? absl::StrCat(least)
                      : most == SIZE_MAX ? absl::StrCat("at least ", least)
                                         : absl::StrCat(least, " to ", most);
  const std::string way = count() > most ? way_to_fewer(check, e, parts) : std::string();
  std::string fewer;
  for (std::size_t k = 0; k < most && k < count(); ++k)
    absl::StrAppend(&fewer, fewer.empty() ? "" : ", ", shown(e.parts[k]));
  fail(absl::StrCat("takes ", range, range == "1" ? " value" : " values", ", and has ", count(),
                    !way.empty()     ? way
                    : count() > most ? absl::StrCat("; write ", e.text, "(", fewer, ")")
                                     : std::string(example_of(e.text))));
}

computed_ptr function_arguments::as(std::size_t k, number n) {
  auto own = number_at(k);
  bool fits = own != number::none && own != number::boolean && (is_float(n) || is_integer(own));
  if (!fits) expected(k, is_float(n) ? "a number" : "an integer");
  return checker::at(e.parts[k], [&] { return converted(std::move(parts[k]), n); });
}

computed_ptr function_arguments::text(std::size_t k) {
  if (parts[k]->type().kind != kind::text) expected(k, "a text");
  return std::move(parts[k]);
}

computed_ptr function_arguments::list(std::size_t k) {
  auto kind = parts[k]->type().kind;
  if (kind != kind::list && kind != kind::array) expected(k, "a list");
  return std::move(parts[k]);
}

computed_ptr function_arguments::boolean(std::size_t k) {
  if (number_at(k) != number::boolean) expected(k, "bool");
  return std::move(parts[k]);
}

make_built_in find_built_in(std::string_view name) {
  static const auto table = [] {
    std::map<std::string_view, make_built_in> all;
    for (auto* functions :
         {&number_functions(), &text_functions(), &list_functions(), &tensor_functions(), &json_functions()})
      for (auto& f : *functions) all.emplace(f.name, f.make);
    return all;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

std::vector<std::string> built_in_names() {
  std::vector<std::string> names{"if", "let"};
  for (auto* functions :
       {&number_functions(), &text_functions(), &list_functions(), &tensor_functions(), &json_functions()})
    for (auto& f : *functions) names.emplace_back(f.name);
  return names;
}

}  // namespace sluice::lib::expressions
