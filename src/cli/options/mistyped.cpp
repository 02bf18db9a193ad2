// SPDX-License-Identifier: Apache-2.0
#include "cli/options/mistyped.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/text/closest.hpp"
#include "cli/options/help.hpp"
#include "cli/options/option_checks.hpp"

namespace sluice::lib::cli {
namespace {

struct other_word {
  std::string_view name, instead;
};
/// Verbs of other programs.
constexpr other_word kVerbs[] = {
    {"schema", "describe FILE, or explain FILE"},
    {"stats", "describe FILE"},
    {"stat", "describe FILE"},
    {"info", "describe FILE"},
    {"summary", "describe FILE"},
    {"inspect", "describe FILE, or head FILE"},
    {"show", "head FILE"},
    {"print", "cat FILE"},
    {"view", "head FILE"},
    {"less", "head -n 50 FILE"},
    {"tail", "run 'PLAN | skip(N)' --output jsonl, where `sluice count FILE` says how many elements there are"},
    {"wc", "count FILE"},
    {"len", "count FILE"},
    {"cut", "select NAMES FILE"},
    {"filter", "run 'csv(\"FILE\", header=true) | filter(x > 1)' --output jsonl"},
    {"where", "run 'csv(\"FILE\", header=true) | filter(x > 1)' --output jsonl"},
    {"grep", "run 'lines(\"FILE\") | filter(contains(it, \"text\"))' --output lines"},
    {"query", "run 'csv(\"FILE\", header=true) | filter(x > 1)' --output jsonl"},
    {"sort", "run 'csv(\"FILE\", header=true) | top(10, by=x)' --output jsonl"},
    {"top", "run 'csv(\"FILE\", header=true) | top(10, by=x)' --output jsonl"},
    {"group", "run 'csv(\"FILE\", header=true) | group_by(x, {n: count()})' --output jsonl"},
    {"frequency", "run 'csv(\"FILE\", header=true) | group_by(x, {n: count()})' --output jsonl"},
    {"uniq", "run 'lines(\"FILE\") | unique' --output lines"},
    {"check", "verify FILE"},
    {"validate", "verify FILE"},
    {"test", "verify FILE"},
    {"copy", "cp FILES TO"},
    {"list", "ls PATTERN"},
    {"help", "--help, or VERB --help"},
    {"version", "--version"},
    {"manual", "man"},
    {"operators", "ops"},
    {"plan", "explain PLAN"},
    {"exec", "run PLAN"},
    {"write", "run PLAN --output PATH"}};
/// Options of other programs.
constexpr other_word kOptions[] = {{"--limit", "-n"},
                                   {"--lines", "-n"},
                                   {"--rows", "-n"},
                                   {"--head", "--limit"},
                                   {"-n", "--limit"},
                                   {"-o", "--output"},
                                   {"--out", "--output"},
                                   {"--format", "--from"},
                                   {"-f", "--from"},
                                   {"--threads", "--workers"},
                                   {"-j", "--workers"},
                                   {"--jobs", "--workers"},
                                   {"--memory", "--memory-budget"},
                                   {"-q", "--quiet"},
                                   {"--silent", "--quiet"},
                                   {"--force", "--overwrite"},
                                   {"--type", "--from"},
                                   {"--filter", "run 'PLAN | filter(…)'"}};

bool has_option(const CLI::App& verb, const std::string& name) { return verb.get_option_no_throw(name) != nullptr; }

const CLI::App* verb_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    if (verb->get_name() == name) return verb;
  return nullptr;
}

std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* o : verb.get_options()) {
    for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string mistyped_verb(const CLI::App& app, const std::string& word) {
  for (const other_word& o : kVerbs)
    if (o.name == word) return absl::StrCat("there is no verb ", word, "; use: sluice ", std::string(o.instead));
  std::vector<std::string> names;
  std::string all;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
    absl::StrAppend(&all, all.empty() ? "" : ", ", verb->get_name());
  }
  const std::string similar = detail::did_you_mean(word, names);
  return absl::StrCat("there is no verb ", word, similar.empty() ? absl::StrCat("; the verbs are ", all) : similar);
}

/// Returns the message for an option that the verb does not have; empty if it has it.
std::string mistyped_option(const CLI::App& verb, const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  if (has_option(verb, name)) return {};
  const std::string none = absl::StrCat(verb.get_name(), " has no option ", name);
  for (const other_word& o : kOptions) {
    if (o.name != name) continue;
    const std::string instead(o.instead);
    if (instead[0] != '-' || has_option(verb, instead)) return absl::StrCat(none, "; it is ", instead);
  }
  const std::string similar = detail::did_you_mean(name, options_of(verb));
  return absl::StrCat(
      none, similar.empty() ? absl::StrCat("; sluice ", verb.get_name(), " --help lists its options") : similar);
}

/// Returns the message for arguments that are missing: "PLAN or --file is required".
std::string missing_argument(const CLI::App& verb, const std::string& plain) {
  const std::string what = plain.substr(0, plain.find(" is required"));
  return absl::StrCat(verb.get_name(), " needs ", what, ", as in: ", example_of(verb.get_name()));
}

/// Returns the message for an option without its value: "--output: 1 required TEXT:PATH missing".
std::string missing_value(const CLI::App& verb, const std::string& plain) {
  const std::string option = plain.substr(0, plain.find(':'));
  return absl::StrCat(verb.get_name(), ": ", option, " needs a value; sluice ", verb.get_name(),
                      " --help describes it");
}

/// Returns the message for arguments that the verb does not accept.
std::string surplus_arguments(const CLI::App& verb, const std::vector<std::string>& surplus) {
  std::string accepted;
  for (const CLI::Option* o : verb.get_options([](const CLI::Option* one) { return one->get_positional(); }))
    absl::StrAppend(&accepted, accepted.empty() ? "" : " ", o->get_name(true));
  const std::string found = absl::StrJoin(surplus, " ");
  if (accepted.empty()) return absl::StrCat(verb.get_name(), " takes no arguments, and found ", found);
  return absl::StrCat(verb.get_name(), " takes ", accepted, ", and found more: ", found,
                      "; plans and patterns stand in quotes, as in: ", example_of(verb.get_name()));
}

bool is_count(std::string_view s) {
  return s.size() > 1 && s[0] == '-' &&
         std::all_of(s.begin() + 1, s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

void add_describe(CLI::App& app, reading_arguments& reading, error_arguments& errors, std::function<int()>& verb) {
  auto arguments = std::make_shared<describe_arguments>();
  auto* describe = app.add_subcommand(
      "describe", "the columns of a plan or a file: types, missing values, least and greatest values; and the rows");
  auto* typed =
      describe->add_option("PLAN_OR_FILE", arguments->plan, "a plan, a file, or - for data on standard input");
  auto* in_file =
      describe->add_option("-f,--file", arguments->plan_file, "the plan is in this file; - for standard input")
          ->check(path())
          ->excludes(typed);
  describe->parse_complete_callback([typed, in_file] {
    if (typed->count() == 0 && in_file->count() == 0) throw CLI::RequiredError("PLAN_OR_FILE or --file");
  });
  add_reading_options(*describe, reading);
  add_error_options(*describe, errors);
  describe->callback([&verb, &reading, &errors, arguments] {
    verb = [&reading, &errors, arguments] {
      arguments->reading = reading;
      arguments->errors = errors;
      return cli::describe(*arguments);
    };
  });
}

std::vector<std::string> usual_arguments(int argc, char** argv) {
  std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
  if (all.empty()) return all;
  const std::string_view option = all[0] == "head" ? "-n" : all[0] == "select" ? "--limit" : "";
  if (option.empty()) return all;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] == "--") break;
    // Not the value of an option: `-n -5`.
    if (!is_count(all[i]) || all[i - 1].starts_with("-")) continue;
    all[i].erase(0, 1);
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(i), std::string(option));
    ++i;
  }
  return all;
}

std::string message_of_mistake(const CLI::App& app, const std::vector<std::string>& arguments,
                               const CLI::ParseError& mistake) {
  const std::string plain = mistake.what();
  const bool is_surplus = dynamic_cast<const CLI::ExtrasError*>(&mistake) != nullptr;
  if (is_surplus && !arguments.empty() && arguments[0].starts_with("-"))
    return absl::StrCat("sluice has no option ", arguments[0], " before a verb; sluice --help lists verbs and options");
  if (arguments.empty() || arguments[0].starts_with("-")) return plain;
  const CLI::App* verb = verb_named(app, arguments[0]);
  if (!verb) return mistyped_verb(app, arguments[0]);
  if (dynamic_cast<const CLI::RequiredError*>(&mistake)) return missing_argument(*verb, plain);
  if (plain.ends_with(" missing")) return missing_value(*verb, plain);
  if (!is_surplus && plain.find("expected") == plain.npos) return plain;
  for (std::size_t i = 1; i != arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& a = arguments[i];
    if (a.size() < 2 || a[0] != '-' || is_count(a)) continue;
    if (std::string message = mistyped_option(*verb, a); !message.empty()) return message;
  }
  return is_surplus ? surplus_arguments(*verb, verb->remaining()) : plain;
}

}  // namespace sluice::lib::cli
