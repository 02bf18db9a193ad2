// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/typographic.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

namespace {

/// Returns the value that is probably meant: ": write 2" for "2" where a number is expected. `step`: the argument's name.
std::string way_to(std::string_view what, const argument& a, std::string_view step) {
  if (step == "delimiter")
    for (const auto& [word, mark] : {std::pair{"tab", "\\t"}, {"comma", ","}, {"semicolon", ";"}, {"pipe", "|"}})
      if (a.text == word) return absl::StrCat(": write \"", mark, "\"");
  if (const std::string meant = detail::in_typographic_quotes(a.source); !meant.empty())
    return absl::StrCat(": these quotes are typographic: write ", meant);
  if (step == "path" && a.kind == argument::word && (a.text == "it" || a.text == "x" || a.text == "path"))
    return ": a reader in a stage gets its path from each element: leave it out, as in interleave(lines)";
  constexpr std::size_t kShownMax = 100;
  const bool lacks_quotes =
      a.kind == argument::word || (a.kind == argument::expression && !a.source.empty() &&
                                   a.source.size() <= kShownMax && a.source.find('"') == a.source.npos);
  if (lacks_quotes && what.starts_with("a text in quotes"))
    return absl::StrCat(": write \"", a.kind == argument::word ? a.text : std::string(a.source), "\"");
  const bool is_quoted = a.kind == argument::quoted || a.kind == argument::string;
  const bool is_number = !a.text.empty() && a.text.find_first_not_of("0123456789.-") == a.text.npos;
  if (is_quoted && is_number && what.find("number") != what.npos) return absl::StrCat(": write ", a.text);
  if (what != "true or false") return {};
  for (std::string_view yes : {"yes", "True", "TRUE", "1", "on"})
    if (a.text == yes) return ": write true";
  for (std::string_view no : {"no", "False", "FALSE", "0", "off"})
    if (a.text == no) return ": write false";
  return {};
}

}  // namespace

// --- The place where an argument is read. ---

bool reading::is_plan(const argument& a) const {
  if (a.kind == argument::object) return a.find("op") != nullptr;
  // split(text) is an expression. For a name that does not exist, the error reports that there is no such stage.
  if (a.kind == argument::plan) return !(a.calls.size() == 1 && lookup_.is_function(a.calls[0].name));
  return a.kind == argument::word && lookup_.is_operator(a.text);
}

void reading::read(const codec& type, void* field, const argument& a, std::string_view step) {
  auto length = path_.size();
  path_ += step;
  type.read(field, a, *this);
  std::string rule = type.check(field);
  if (!rule.empty()) throw misplaced{place_of(a.at), path_ + rule};
  path_.resize(length);
}

void reading::expected(const argument& a, std::string_view what) const {
  throw misplaced{place_of(a.at),
                  absl::StrCat(path_, " expects ", std::string(what), ", and is ", a.shown(), way_to(what, a, step()))};
}

void reading::fail(const argument& a, std::string_view what) const {
  throw misplaced{place_of(a.at), absl::StrCat(path_, ": ", std::string(what))};
}

void reading::refuse_name(const argument& a, std::string_view what) const {
  throw misplaced{place_of(a.name_at), absl::StrCat(path_.substr(0, op_length_), std::string(what))};
}

void reading::refuse(const argument& a, std::string_view what) const {
  throw misplaced{place_of(a.at), absl::StrCat(path_.substr(0, op_length_), std::string(what))};
}

// --- The list. ---

const field* argument_list::find(std::string_view name) const noexcept {
  for (auto& f : fields)
    if (f.name == name) return &f;
  return nullptr;
}

std::string argument_list::check(const void* a) const {
  for (auto& f : fields) {
    const void* p = at(a, f);
    if (f.type->is_missing(p)) {
      if (f.type->is_later()) continue;
      return absl::StrCat("needs ", f.type->wanted(f.name));
    }
    if (auto rule = f.type->check(p); !rule.empty()) return absl::StrCat(std::string(f.name), rule);
  }
  return {};
}

bool argument_list::equal(const void* a, const void* b) const {
  return std::ranges::all_of(fields, [&](const field& f) { return f.type->equal(at(a, f), at(b, f)); });
}

void argument_list::visit(const void* a, part_visitor& v) const {
  for (auto& f : fields) f.type->visit(at(a, f), v);
}

bool argument_list::has_later() const {
  return std::ranges::any_of(fields, [](const field& f) { return f.type->is_later(); });
}

std::string argument_list::names() const {
  std::string out;
  for (auto& f : fields) absl::StrAppend(&out, out.empty() ? "" : ", ", std::string(f.name));
  return out;
}

template <> const argument_list& arguments_of<no_arguments>() {
  static const argument_list list = detail::read_arguments<no_arguments>();
  return list;
}

const argument_list& call_arguments() { return arguments_of<error_handling>(); }

function_value::function_value() noexcept = default;
function_value::function_value(function_ptr f) noexcept : value(std::move(f)) {}
function_value::function_value(const function_value& other) noexcept = default;
function_value::function_value(function_value&& other) noexcept = default;
function_value& function_value::operator=(const function_value& other) noexcept = default;
function_value& function_value::operator=(function_value&& other) noexcept = default;
function_value::~function_value() = default;

plan_or_function::plan_or_function() noexcept = default;
plan_or_function::plan_or_function(node_ptr p) noexcept : plan(std::move(p)) {}
plan_or_function::plan_or_function(function_ptr f) noexcept : function(std::move(f)) {}
plan_or_function::plan_or_function(const plan_or_function& other) noexcept = default;
plan_or_function::plan_or_function(plan_or_function&& other) noexcept = default;
plan_or_function& plan_or_function::operator=(const plan_or_function& other) noexcept = default;
plan_or_function& plan_or_function::operator=(plan_or_function&& other) noexcept = default;
plan_or_function::~plan_or_function() = default;

arguments::arguments() {
  static const arguments none = of(no_arguments());
  *this = none;
}
arguments::arguments(const char* tag, const void* value, void (*destroy)(const void*))
    : tag_(tag), value_(value, destroy) {}
arguments::arguments(const arguments& other) noexcept = default;
arguments::arguments(arguments&& other) noexcept = default;
arguments& arguments::operator=(const arguments& other) noexcept = default;
arguments::~arguments() = default;

void visit_parts(const node& n, part_visitor& visitor) { n.op->arguments().visit(n.arguments.get(), visitor); }

namespace detail {

void refuse_other_arguments() {
  SLUICE_ASSERT(false, "a node's arguments are of another struct than its operator's");
  std::abort();
}

void add_field(argument_list& list, std::string_view name, std::ptrdiff_t offset, const codec& type, bool by_position) {
  list.fields.push_back({name, static_cast<std::size_t>(offset), &type, false, by_position});
}

void complete_list(argument_list& list) {
  for (auto& f : list.fields) {
    const void* p = argument_list::at(list.defaults, f);
    f.required = f.type->is_missing(p) || !f.type->check(p).empty();
  }
}

}  // namespace detail

}  // namespace sluice::lib
