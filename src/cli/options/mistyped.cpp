// SPDX-License-Identifier: Apache-2.0
#include "cli/options/mistyped.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/text/closest.hpp"
#include "base/text/typographic.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/options/help.hpp"
#include "cli/options/misplaced_arguments.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/other_options.hpp"
#include "cli/options/typed_command.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

struct other_word {
  std::string_view name, instead;
};
/// Verbs of other programs, and what is written in their place (typed_command::completed()).
constexpr other_word kVerbs[] = {
    {"schema", "describe FILE"},
    {"stats", "describe FILE"},
    {"stat", "describe FILE"},
    {"info", "describe FILE"},
    {"summary", "describe FILE"},
    {"summarize", "describe FILE"},
    {"types", "describe FILE"},
    {"columns", "describe FILE"},
    {"headers", "describe FILE"},
    {"inspect", "describe FILE"},
    {"show", "head FILE"},
    {"print", "cat FILE"},
    {"view", "head FILE"},
    {"open", "head FILE"},
    {"read", "cat FILE"},
    {"less", "cat FILE | less"},
    {"more", "cat FILE | less"},
    {"tail", "cat FILE | tail -n ROWS"},
    {"wc", "count FILE"},
    {"len", "count FILE"},
    {"cut", "select NAME FILE"},
    {"filter", "run 'PLAN | filter(CONDITION)' --output jsonl"},
    {"where", "run 'PLAN | filter(CONDITION)' --output jsonl"},
    {"query", "run 'PLAN | filter(CONDITION)' --output jsonl"},
    {"search", "run 'lines(\"FILE\") | filter(contains(it, \"text\"))' --output lines"},
    {"grep", "run 'lines(\"FILE\") | filter(contains(it, \"text\"))' --output lines"},
    {"map", "run 'PLAN | map(NUMBER)' --output jsonl"},
    {"sort",
     "run 'PLAN | top(10, by=NUMBER)' --output jsonl, for the 10 largest; a database sorts all: sluice run 'PLAN' "
     "--output out.csv && duckdb -c \"from 'out.csv' order by NUMBER\""},
    {"group", "run 'PLAN | group_by(NAME, {n: count()})' --output jsonl"},
    {"group_by", "run 'PLAN | group_by(NAME, {n: count()})' --output jsonl"},
    {"frequency", "run 'PLAN | group_by(NAME, {n: count()})' --output jsonl"},
    {"uniq", "run 'lines(\"FILE\") | unique' --output lines"},
    {"unique", "run 'PLAN | unique' --output jsonl"},
    {"shuffle", "run 'PLAN | shuffle(1000000)' --output jsonl"},
    {"shuf", "run 'PLAN | shuffle(1000000)' --output jsonl"},
    {"check", "verify FILE"},
    {"validate", "verify FILE"},
    {"test", "verify FILE"},
    {"fsck", "verify FILE"},
    {"copy", "cp FILE copy/"},
    {"mv", "cp FILE copy/"},
    {"list", "ls '*'"},
    {"dir", "ls '*'"},
    {"find", "ls '**'"},
    {"help", "--help"},
    {"version", "--version"},
    {"manual", "man"},
    {"operators", "ops"},
    {"functions", "ops"},
    {"plan", "explain 'PLAN'"},
    {"exec", "run 'PLAN' --output jsonl"},
    {"execute", "run 'PLAN' --output jsonl"},
    {"stream", "run 'PLAN' --output jsonl"},
    {"write", "run 'PLAN' --output out.jsonl"},
    {"export", "run 'PLAN' --output out.jsonl"},
    {"save", "run 'PLAN' --output out.jsonl"},
    {"split", "convert FILE part-{shard}.jsonl --shards 4"}};
/// Options of other programs.
constexpr other_word kOptions[] = {{"--limit", "-n"},
                                   {"--count", "-n"},
                                   {"--num", "-n"},
                                   {"--max", "--limit"},
                                   {"--lines", "-n"},
                                   {"--rows", "-n"},
                                   {"--head", "--limit"},
                                   {"-n", "--limit"},
                                   {"-o", "--output"},
                                   {"--out", "--output"},
                                   {"--format", "--output"},
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
                                   {"--delim", "--delimiter"},
                                   {"--sep", "--delimiter"},
                                   {"-d", "--delimiter"},
                                   {"--input", "--from"},
                                   {"--n", "--splits"},
                                   {"-n", "--splits"},
                                   {"--parts", "--splits"},
                                   {"--checkpoint-every", "--every"},
                                   {"--interval", "--every"},
                                   {"--plan", "--file"},
                                   {"--dataset", "--file"},
                                   {"--verbose", "--stages"}};

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

std::string mistyped_verb(const CLI::App& app, const std::vector<std::string>& arguments) {
  const std::string& word = arguments[0];
  const typed_command typed(arguments);
  if (is_file(word)) return absl::StrCat("a verb is missing before ", word, "; use: sluice head ", shell_word(word));
  if (word.find_first_of("(|") != word.npos)
    return absl::StrCat("a verb is missing before the plan; use: sluice run ", shell_word(word), " --output jsonl");
  if (word == "help" && arguments.size() > 1 && verb_named(app, arguments[1]))
    return absl::StrCat("there is no verb help; use: sluice ", arguments[1], " --help");
  for (const other_word& o : kVerbs)
    if (o.name == word) return absl::StrCat("there is no verb ", word, "; use: sluice ", typed.completed(o.instead));
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  const std::string similar = detail::did_you_mean(word, names);
  return absl::StrCat(
      "there is no verb ", word,
      similar.empty() ? absl::StrCat("; the verbs are ", list_of_verbs(), "; sluice --help describes them") : similar);
}

/// Returns the option that the verb has in place of one of another program; empty if it has none.
std::string_view option_instead_of(const CLI::App& verb, std::string_view name) {
  for (const other_word& o : kOptions)
    if (o.name == name && has_option(verb, std::string(o.instead))) return o.instead;
  return {};
}

/// Returns the message for an option that the verb does not have; empty if it has it.
std::string mistyped_option(const CLI::App& verb, const std::vector<std::string>& arguments,
                            const std::string& argument) {
  const std::string name = argument.substr(0, argument.find('='));
  if (has_option(verb, name)) return {};
  const std::string none = absl::StrCat(verb.get_name(), " has no option ", name);
  if (is_file(argument))
    return absl::StrCat(none, "; the file of that name is written ", shell_word(absl::StrCat("./", argument)));
  if (const std::string way = instead_of_option(verb.get_name(), name, arguments); !way.empty()) return none + way;
  std::string_view instead = option_instead_of(verb, name);
  std::vector<std::string> known = options_of(verb);
  for (const other_word& o : kOptions)
    if (!option_instead_of(verb, o.name).empty()) known.emplace_back(o.name);
  const bool is_letter = name.size() <= 2;  // -c is similar to every letter
  const std::string similar = instead.empty() && !is_letter ? detail::did_you_mean(name, known) : std::string();
  for (const other_word& o : kOptions)
    if (!has_option(verb, std::string(o.name)) && similar == absl::StrCat("; did you mean ", std::string(o.name), "?"))
      instead = option_instead_of(verb, o.name);
  if (instead.empty())
    return absl::StrCat(
        none, similar.empty() ? absl::StrCat("; sluice ", verb.get_name(), " --help lists its options") : similar);
  const CLI::Option* option = verb.get_option_no_throw(std::string(instead));
  const std::string value = typed_command(arguments).value_of(name);
  const bool has_value = option->get_items_expected_max() > 0 && !value.empty() && !value.starts_with("-");
  return absl::StrCat(none, "; use ", std::string(instead), has_value ? absl::StrCat(" ", shell_word(value)) : "");
}

/// Returns a value that the option accepts: the first of several words, or one for its kind of value.
std::string example_value(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const std::string name = option.get_name();
  if (name.find("checkpoint") != name.npos || name.find("resume") != name.npos) return "job.ckpt";
  if (name.find("quarantine") != name.npos) return "bad.jsonl";
  const std::size_t begin = type.find('{');
  if (begin != type.npos) return type.substr(begin + 1, type.find_first_of(",}", begin) - begin - 1);
  static constexpr other_word kValues[] = {{"OUTPUT", "jsonl"}, {"SIZE", "64MiB"},      {"TIME", "30s"},
                                           {"FOLDER", "out"},   {"SCHEMA", "id:int64"}, {"PATH", "FILE"}};
  for (const other_word& value : kValues)
    if (type.find(value.name) != type.npos) return std::string(value.instead);
  return type.ends_with("N") ? "10" : std::string();
}

/// Returns the option's name as it was typed: -n for --limit.
std::string typed_name(const CLI::App& verb, const std::vector<std::string>& arguments, const std::string& name) {
  const CLI::Option* option = verb.get_option_no_throw(name);
  if (!option || std::ranges::any_of(arguments, [&](const std::string& a) { return a.starts_with(name); })) return name;
  return option->get_snames().empty() ? name : "-" + option->get_snames()[0];
}

/// Returns the message for an option without its value: "--output: 1 required TEXT:PATH missing".
std::string missing_value(const CLI::App& verb, const std::vector<std::string>& arguments, const std::string& plain) {
  const std::string option = typed_name(verb, arguments, plain.substr(0, plain.find(':')));
  const CLI::Option* known = verb.get_option_no_throw(option);
  const std::string example = known ? example_value(*known) : std::string();
  return absl::StrCat(verb.get_name(), ": ", option, " needs a value",
                      example.empty() ? absl::StrCat("; sluice ", verb.get_name(), " --help describes it")
                                      : absl::StrCat(", as in ", option, " ", example));
}

/// Returns the message for a value that an option refuses, with the option as it was typed: -n in place of --limit.
std::string refused_value(const CLI::App& verb, const std::vector<std::string>& arguments, const std::string& plain) {
  const std::size_t colon = plain.find(": ");
  const std::string name = plain.substr(0, std::min(colon, plain.size()));
  const CLI::Option* option = colon == plain.npos ? nullptr : verb.get_option_no_throw(name);
  if (!option) return plain;
  const typed_command typed(arguments);
  if (verb.get_name() == "head" && name == "--output") {
    if (typed.value_of(name).find('.') == std::string::npos)
      return plain + detail::did_you_mean(typed.value_of(name), {"table", "jsonl", "csv"});
    const std::vector<std::string> files = typed.files();
    const std::string to = shell_word(typed.value_of("--output"));
    const std::string way = files.empty() ? typed.completed("sluice run 'PLAN' --limit 10 --output ")
                                          : typed.completed("sluice convert FILE ");
    return absl::StrCat(plain, "; to write a file: ", way, to, files.empty() ? "" : " --limit 10");
  }
  if (option->get_positional())
    return absl::StrCat(verb.get_name(), plain.substr(colon), "; as in: ", example_of(verb.get_name()));
  return typed_name(verb, arguments, name) + plain.substr(colon);
}

/// Returns the message for "--output: At Most 1 required but received 2"; empty for other messages.
std::string repeated_option(const CLI::App& verb, const std::vector<std::string>& arguments, const std::string& plain) {
  const std::size_t colon = plain.find(": At Most 1 required but received ");
  if (colon == plain.npos) return {};
  const std::string times = plain.substr(plain.rfind(' ') + 1);
  return absl::StrCat(typed_name(verb, arguments, plain.substr(0, colon)), " is given ",
                      times == "2" ? "twice" : absl::StrCat(times, " times"), ": remove all but one");
}

/// Returns the message for "--json excludes --spec"; empty for other messages.
std::string two_alternatives(const std::string& plain) {
  constexpr std::string_view kExcludes = " excludes ";
  const std::size_t at = plain.find(kExcludes);
  if (at == plain.npos) return {};
  const std::string one = plain.substr(0, at), other = plain.substr(at + kExcludes.size());
  const bool is_plan_twice = (one == "--file" || other == "--file") && (one[0] != '-' || other[0] != '-');
  return is_plan_twice ? "give the plan as an argument or with --file, not both"
                       : absl::StrCat("give ", one, " or ", other, ", not both");
}

bool is_count(std::string_view s) {
  return s.size() > 1 && s[0] == '-' &&
         std::all_of(s.begin() + 1, s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the message for the first option that the verb does not have; empty: it has all.
std::string unknown_option(const CLI::App& verb, const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i != arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& a = arguments[i];
    if (a.size() < 2 || a[0] != '-' || is_count(a)) continue;
    if (std::string message = mistyped_option(verb, arguments, a); !message.empty()) return message;
  }
  return {};
}

/// Returns the message for options before the verb.
std::string options_before_verb(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto verb =
      std::ranges::find_if(arguments, [&](const std::string& a) { return verb_named(app, a) != nullptr; });
  const std::string none = absl::StrCat("sluice has no option ", arguments[0], " before a verb; ");
  if (verb != arguments.end() && verb - arguments.begin() <= 2) {
    std::string command = "sluice " + *verb;
    for (auto a = arguments.begin(); a != verb; ++a) absl::StrAppend(&command, " ", shell_word(*a));
    for (auto a = verb + 1; a != arguments.end(); ++a) absl::StrAppend(&command, " ", shell_word(*a));
    return absl::StrCat(none, "options follow the verb; use: ", command);
  }
  const std::string similar = detail::did_you_mean(arguments[0], {"--help", "--version"});
  if (!similar.empty()) return absl::StrCat("sluice has no option ", arguments[0], similar);
  return absl::StrCat(none,
                      "options follow the verb, as in: sluice head --limit 3 people.csv; sluice --help lists "
                      "verbs and options");
}

}  // namespace

void add_describe(CLI::App& app, reading_arguments& reading, error_arguments& errors, std::function<int()>& verb) {
  auto arguments = std::make_shared<describe_arguments>();
  auto* describe = app.add_subcommand(
      "describe", "the columns of a plan or a file: types, missing values, least and greatest values; and the rows");
  auto* typed = describe->add_option("PLAN_OR_FILE", arguments->plan,
                                     "a plan, a file, a pattern of files, or - for data on standard input");
  auto* in_file =
      describe->add_option("-f,--file", arguments->plan_file, "the plan is in this file; - for standard input")
          ->check(path())
          ->excludes(typed);
  describe->parse_complete_callback([typed, in_file] {
    if (typed->count() == 0 && in_file->count() == 0) throw CLI::RequiredError("PLAN_OR_FILE or --file");
  });
  add_format_options(*describe, arguments->format);
  add_reading_options(*describe, reading);
  add_error_options(*describe, errors);
  describe->callback([&verb, &reading, &errors, arguments] {
    verb = [&reading, &errors, arguments] {
      arguments->reading = reading;
      arguments->errors = errors;
      arguments->format.verb = "describe";
      return cli::describe(*arguments);
    };
  });
}

std::vector<std::string> usual_arguments(int argc, char** argv) {
  std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
  if (all.empty()) return all;
  // `sluice --help head` is `sluice head --help`.
  if (all.size() == 2 && (all[0] == "--help" || all[0] == "-h") && !all[1].starts_with('-')) std::swap(all[0], all[1]);
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
  if (is_surplus && !arguments.empty() && arguments[0].starts_with("-")) return options_before_verb(app, arguments);
  if (arguments.empty() || arguments[0].starts_with("-")) return plain;
  const CLI::App* verb = verb_named(app, arguments[0]);
  if (!verb) return mistyped_verb(app, arguments);
  for (const std::string& a : arguments)
    if (const std::size_t dashes = detail::typographic_dash_bytes(a); dashes != 0 && dashes != a.size())
      return absl::StrCat(a, " begins with a typographic dash: write ", a.size() == dashes + 1 ? "-" : "--",
                          a.substr(dashes));
  if (dynamic_cast<const CLI::RequiredError*>(&mistake)) {
    const std::string unknown = unknown_option(*verb, arguments);  // -l of `ls -l`
    return unknown.empty() ? missing_argument(*verb, arguments, plain) : unknown;
  }
  if (const std::string twice = repeated_option(*verb, arguments, plain); !twice.empty()) return twice;
  if (const std::string both = two_alternatives(plain); !both.empty()) return both;
  if (plain.ends_with(" missing")) return missing_value(*verb, arguments, plain);
  if (!is_surplus && plain.find("expected") == plain.npos) return refused_value(*verb, arguments, plain);
  if (const std::string unknown = unknown_option(*verb, arguments); !unknown.empty()) return unknown;
  return is_surplus ? surplus_arguments(*verb, arguments) : plain;
}

}  // namespace sluice::lib::cli
