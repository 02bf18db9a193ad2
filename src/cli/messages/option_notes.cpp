// SPDX-License-Identifier: Apache-2.0
#include "cli/messages/option_notes.hpp"

#include <absl/strings/str_cat.h>

#include <map>
#include <string_view>

#include "base/text/redacted.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

/// The value of an option, and the place that has set it.
struct setting {
  std::string value, place;
};

class settings {
 public:
  /// Notes a setting. If a place further downstream has set another value, that one decides.
  void add(const std::string& option, const std::string& value, const std::string& place) {
    auto [known, is_new] = all_.try_emplace(option, setting{value, place});
    if (is_new || known->second.value == value) return;
    const bool is_of_run = known->second.place.starts_with("--");
    notes.push_back(absl::StrCat(option, ": ", known->second.place, " decides, and not ", place,
                                 is_of_run ? " in the plan" : " upstream of it"));
  }
  void add_rule(std::string_view text, const std::string& place) {
    const std::size_t at = text.find('=');
    add(absl::StrCat("rule ", std::string(text.substr(0, at))), std::string(text.substr(at + 1)), place);
  }
  std::vector<std::string> notes;

 private:
  std::map<std::string, setting> all_;
};

void add_options(const node& n, bool is_off, settings& to) {
  const std::string place = detail::redacted(stage_text(n));
  const argument_list& list = n.op->arguments();
  for (const field& f : list.fields) {
    if (f.name == "rules" || list.is_default(n.arguments.get(), f)) continue;
    to.add(std::string(f.name), printed(*f.type, argument_list::at(n.arguments.get(), f)), place);
  }
  for (const std::string& rule : n.op->facts.options(n).rules.list) {
    if (is_off && rule.ends_with("=on")) to.add("rule " + rule.substr(0, rule.find('=')), "off", "--no-optimize");
    to.add_rule(rule, place);
  }
}

}  // namespace

std::vector<std::string> option_notes(const node& plan, const optimizer_arguments& given) {
  settings all;
  for (const std::string& rule : given.rules) all.add_rule(rule, "--rule " + rule);
  if (given.is_off) all.add("optimize", "false", "--no-optimize");
  if (given.trusts) all.add("trust", "true", "--trust");
  for (const node* n = &plan;; n = n->inputs[0].get()) {
    if (n->op->facts.options) add_options(*n, given.is_off, all);
    if (n->op->shape != op_info::stage) return all.notes;
  }
}

}  // namespace sluice::lib::cli
