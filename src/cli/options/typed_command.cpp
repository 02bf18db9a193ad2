// SPDX-License-Identifier: Apache-2.0
#include "cli/options/typed_command.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>
#include <exception>

#include "cli/inputs/plan_argument.hpp"

namespace sluice::lib::cli {
namespace {

bool is_plan(const std::string& text) { return text.find_first_of("(|") != text.npos; }

/// Returns the columns of a file; empty if it has none, or cannot be read.
std::vector<member> members_of_file(const std::string& file) {
  try {
    const element_type& row = *plan_of(plan_reading(file))->type;
    return row.kind == kind::structure ? row.members : std::vector<member>();
  } catch (const std::exception&) { return {}; }  // running the suggestion reports the reason
}

bool is_number(const element_type& t) {
  const element_type& value = t.kind == kind::maybe ? *t.element : t;
  return value.kind == kind::scalar && &value != &type_of<bool>();
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:@%+=";
  const bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == text.npos;
  return is_plain ? text : absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string columns_of_file(const std::string& file, std::size_t n) {
  std::string out;
  for (const member& m : members_of_file(file)) {
    if (n-- == 0) break;
    absl::StrAppend(&out, out.empty() ? "" : ",", m.name);
  }
  return out;
}

std::vector<std::string> typed_command::words() const {
  std::vector<std::string> all;
  for (std::size_t i = 1; i < arguments_.size(); ++i)
    if (arguments_[i - 1] != "-n" && (!arguments_[i].starts_with('-') || arguments_[i] == "-"))
      all.push_back(arguments_[i]);
  return all;
}

std::vector<std::string> typed_command::files() const {
  std::vector<std::string> all = words();
  std::erase_if(all, [](const std::string& word) { return !is_file(word); });
  return all;
}

std::string typed_command::value_of(std::string_view option) const {
  for (std::size_t i = 0; i != arguments_.size(); ++i) {
    if (arguments_[i].starts_with(absl::StrCat(std::string(option), "=")))
      return arguments_[i].substr(option.size() + 1);
    if (arguments_[i] == option && i + 1 != arguments_.size()) return arguments_[i + 1];
  }
  return {};
}

std::string typed_command::completed(std::string_view advice) const {
  const std::vector<std::string> known = files(), typed = words();
  const auto plan = std::ranges::find_if(typed, is_plan);
  std::string file = !known.empty()                             ? known[0]
                     : typed.size() == 1 && plan == typed.end() ? typed[0]
                                                                : "FILE",
              number = "x", name = "name";
  std::string reader = plan != typed.end() ? *plan : "csv(\"FILE\", header=true)";
  // `tail -n 5` and `tail -5`
  std::string rows = value_of("-n");
  for (const std::string& a : arguments_)
    if (a.size() > 1 && a[0] == '-' && a.find_first_not_of("0123456789", 1) == a.npos) rows = a.substr(1);
  if (rows.empty() || rows.find_first_not_of("0123456789") != rows.npos) rows = "10";
  const bool is_read = advice.find("PLAN") != advice.npos || advice.find("NUMBER") != advice.npos ||
                       advice.find("CONDITION") != advice.npos;
  if (!known.empty() && is_read) {
    try {
      reader = plan_reading(file);
    } catch (const std::exception&) {}  // running the suggestion reports the reason
    const std::vector<member> members = members_of_file(file);
    const auto numbers = std::ranges::find_if(members, [](const member& m) { return is_number(*m.type); });
    if (!members.empty()) name = members[0].name;
    for (const member& m : members)
      if (m.type->kind == kind::text) name = m.name;
    number = numbers == members.end() ? name : numbers->name;
    if (members.empty()) number = name = "it";
  }
  const std::string condition = number == "it" ? "contains(it, \"text\")" : absl::StrCat(number, " > 1");
  return absl::StrReplaceAll(absl::string_view(advice.data(), advice.size()), {{"FILE", shell_word(file)},
                                                                               {"PLAN", reader},
                                                                               {"NUMBER", number},
                                                                               {"NAME", name},
                                                                               {"CONDITION", condition},
                                                                               {"ROWS", rows}});
}

}  // namespace sluice::lib::cli
