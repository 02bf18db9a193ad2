// SPDX-License-Identifier: Apache-2.0
#include "cli/options/misplaced_arguments.hpp"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "cli/inputs/plan_argument.hpp"
#include "cli/options/help.hpp"
#include "cli/options/typed_command.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::cli {
namespace {

/// Verbs that read a file, with a blank at both ends.
constexpr std::string_view kReadingVerbs = " head cat count describe verify ";

bool has_word(std::string_view list, const std::string& word) {
  return list.find(absl::StrCat(" ", word, " ")) != list.npos;
}

bool is_whole(std::string_view s) {
  return !s.empty() && std::ranges::all_of(s, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the names, joined by commas: words that together are a column, such as `first name`, stay one name.
std::string joined_names(const std::vector<std::string>& words, const std::string& columns) {
  const std::vector<std::string> known = absl::StrSplit(columns, ',');
  std::string names;
  for (std::size_t begin = 0; begin != words.size();) {
    std::size_t end = words.size();  // the longest run of words that is a column
    while (end != begin + 1 &&
           std::ranges::find(known, absl::StrJoin(words.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  words.begin() + static_cast<std::ptrdiff_t>(end), " ")) ==
               known.end())
      --end;
    for (std::size_t k = begin; k != end; ++k)
      absl::StrAppend(&names, names.empty() ? "" : k == begin ? "," : " ", words[k]);
    begin = end;
  }
  return names;
}

bool is_plan_text(std::string_view text) { return text.find_first_of("(|") != text.npos; }

/// Returns the plan that was typed as several words, such as `range 10`, or with a | as one of the words; empty if they are no plan.
std::string plan_of_words(const std::vector<std::string>& words) {
  const std::string joined = absl::StrJoin(words, " ");
  const std::string called =
      words.size() == 2 ? absl::StrCat(words[0], "(", words[1], ")") : std::string();  // range 10
  for (const std::string& text : {joined, called}) try {
      if (text.empty() || !is_plan_text(text)) continue;
      parse_plan(text);
      return text;
    } catch (const std::exception&) {}  // it is no plan
  return {};
}

/// Returns the command that probably is meant where a verb gets too many arguments; empty: not known.
std::string instead_of_surplus(const CLI::App& verb, const std::vector<std::string>& arguments,
                               const std::vector<std::string>& surplus) {
  const typed_command typed(arguments);
  const std::vector<std::string> files = typed.files(), words = typed.words();
  const std::string name = verb.get_name();
  if ((name == "dispatcher" || name == "worker") && surplus.size() == 1 && is_whole(surplus[0]))
    return absl::StrCat("sluice ", name, " --listen 127.0.0.1:", surplus[0]);
  if (name == "ops") return absl::StrCat("sluice ops | grep -A 1 '^", surplus[0], "'");
  const bool takes_plan = name == "run" || name == "explain" || name == "splits";
  if (const std::string plan = takes_plan ? plan_of_words(words) : ""; !plan.empty()) {
    const std::string all = absl::StrCat("sluice ", name, " ", shell_word(plan));
    return name == "run" ? absl::StrCat(all, " --output jsonl") : all;
  }
  if (takes_plan && surplus.size() == 1 && words.size() > 1 && is_plan_text(words[0])) {
    const std::string& more = surplus[0];
    if (name == "explain" && is_whole(more))
      return absl::StrCat("sluice splits ", shell_word(words[0]), " --splits ", more);
    if (name == "run" && more.find('.') != more.npos)
      return absl::StrCat("sluice run ", shell_word(words[0]), " --output ", shell_word(more));
  }
  if ((name == "run" || name == "explain") && !files.empty())
    return typed.completed(absl::StrCat("sluice ", name, " 'PLAN'", name == "run" ? " --output jsonl" : ""));
  if (name == "head" && files.size() == 1 && surplus.size() == 1 && is_whole(surplus[0]))
    return absl::StrCat("sluice head -n ", surplus[0], " ", shell_word(files[0]));
  if (name == "head" && files.size() > 1) {
    std::string all;
    for (const std::string& file : files)
      absl::StrAppend(&all, all.empty() ? "" : "; ", "sluice head ", shell_word(file));
    return all;
  }
  if (name == "select" && !files.empty() && words.size() > 1) {
    std::vector<std::string> typed_names;
    for (const std::string& word : words)
      if (!is_file(word)) typed_names.push_back(word);
    const std::string names = joined_names(typed_names, columns_of_file(files[0], SIZE_MAX));
    return absl::StrCat("sluice select ", names.empty() ? columns_of_file(files[0], 2) : shell_word(names), " ",
                        shell_word(files[0]));
  }
  return files.size() > 1 ? absl::StrCat("sluice ", name, " ", shell_word(files[0])) : std::string();
}

/// Returns an argument's name as words: "plan or file" for PLAN_OR_FILE.
std::string words_for_argument(std::string name) {
  for (char& c : name) c = c == '_' ? ' ' : absl::ascii_tolower(static_cast<unsigned char>(c));
  return name;
}

}  // namespace

std::string missing_argument(const CLI::App& verb, const std::vector<std::string>& arguments,
                             const std::string& plain) {
  const typed_command typed(arguments);
  const std::vector<std::string> words = typed.words();
  if (verb.get_name() == "select" && words.size() == 1) {
    if (const std::size_t blank = words[0].rfind(' '); blank != words[0].npos && is_file(words[0].substr(blank + 1)))
      return absl::StrCat("select: the file is an argument of its own; use: sluice select ",
                          shell_word(words[0].substr(0, blank)), " ", shell_word(words[0].substr(blank + 1)));
    if (!is_file(words[0]))
      return absl::StrCat("select needs a file or a plan after the names, as in: sluice select ", shell_word(words[0]),
                          " people.csv");
    const std::string columns = columns_of_file(words[0], 2);
    return absl::StrCat("select needs the names of columns before the file, as in: sluice select ",
                        columns.empty() ? "NAME" : shell_word(columns), " ", shell_word(words[0]));
  }
  if (verb.get_name() == "run" && (!typed.value_of("--resume").empty() || !typed.value_of("--checkpoint").empty()))
    return "run needs the plan, which a checkpoint does not contain: give the plan of the run that wrote it";
  struct stat is{};
  if (words.empty() && has_word(kReadingVerbs, verb.get_name()) && ::fstat(STDIN_FILENO, &is) == 0 &&
      S_ISFIFO(is.st_mode))
    return absl::StrCat(verb.get_name(), ": standard input is read where - stands for a file; use: sluice ",
                        verb.get_name(), " -");
  const std::string what = plain.substr(0, plain.find(" is required"));
  return absl::StrCat(verb.get_name(), " needs ", what, ", as in: ", example_of(verb.get_name()));
}

std::string surplus_arguments(const CLI::App& verb, const std::vector<std::string>& arguments) {
  const std::vector<std::string> surplus = verb.remaining();
  std::string accepted;
  for (const CLI::Option* o : verb.get_options([](const CLI::Option* one) { return one->get_positional(); }))
    absl::StrAppend(&accepted, accepted.empty() ? "" : ", then one ", words_for_argument(o->get_name(true)));
  const std::string found = absl::StrJoin(surplus, " ");
  if (verb.get_name() == "compare" && arguments.size() > 2)
    return absl::StrCat("compare takes two plans, files or folders, and found more: ", found, "; use: sluice compare ",
                        shell_word(arguments[1]), " ", shell_word(arguments[2]));
  std::string instead = instead_of_surplus(verb, arguments, surplus);
  if (accepted.empty())
    return absl::StrCat(verb.get_name(), " takes no arguments, and found ", found,
                        instead.empty() ? "" : absl::StrCat("; use: ", instead));
  const std::vector<std::string> files = typed_command(arguments).files();
  if (verb.get_name() == "select" && files.size() > 1 && surplus.back() == files.back())
    return absl::StrCat("select takes one file, and found more: ", files.back(), "; use: ", instead);
  if (verb.get_name() == "select" && instead.find("select '") != instead.npos && instead.find(',') == instead.npos)
    return absl::StrCat("select: a name with blanks stands in quotes: ", instead);
  if (verb.get_name() == "select" && !instead.empty())
    return absl::StrCat("select takes the names as one argument, with commas between them: ", instead);
  if (instead.empty()) instead = example_of(verb.get_name());
  const bool are_files = files.size() > 1 && surplus.back() == files.back();
  return absl::StrCat(verb.get_name(), " takes one ", accepted, ", and found more: ", found,
                      are_files ? "" : "; a plan or a pattern is one argument in quotes", "; use: ", instead);
}

}  // namespace sluice::lib::cli
