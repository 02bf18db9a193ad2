// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "cli/reports/description.hpp"
#include "cli/verbs.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

std::vector<std::string> names_of(const CLI::Option& o) {
  std::vector<std::string> names;
  for (auto& name : o.get_lnames()) names.push_back("--" + name);
  for (auto& name : o.get_snames()) names.push_back("-" + name);
  return names;
}

std::string options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* o : verb.get_options())
    for (auto& name : names_of(*o)) names.push_back(name);
  return absl::StrJoin(names, " ");
}

/// The values that an option or an argument accepts.
struct values {
  std::string words = {};  ///< separated by blanks
  bool files = false;
};

values values_of(const CLI::Option& o) {
  // "TEXT:{stop,skip}", as one_of() prints it
  std::string type = o.get_type_name();
  std::size_t begin = type.find('{'), end = type.find('}');
  if (end != type.npos) return {.words = absl::StrReplaceAll(type.substr(begin + 1, end - begin - 1), {{",", " "}})};
  if (o.check_lname("output")) return {.words = "null jsonl raw lines jsonl: raw: lines: tfrecord:"};
  if (!o.get_positional()) return {.files = type.find("PATH") != type.npos};
  const std::string name = o.get_name(true);
  return {.files = name.find("FILE") != name.npos || name.find("FOLDER") != name.npos};
}

/// Returns the values of all arguments of the verb together.
values arguments_of(const CLI::App& verb) {
  values all;
  for (const CLI::Option* o : verb.get_options()) {
    if (!o->get_positional()) continue;
    values of = values_of(*o);
    all.words += of.words;
    all.files |= of.files;
  }
  return all;
}

bool takes_plan(const CLI::App& verb) {
  for (const CLI::Option* o : verb.get_options())
    if (o->get_positional() && o->get_name(true).find("PLAN") != std::string::npos) return true;
  return false;
}

/// Returns the first words of a plan for this program: sources as they are called, or the stages that may follow a bar.
std::string operators_of(bool stages) {
  std::vector<std::string> names;
  for (const op_info* op : operators())
    if ((op->shape == op_info::stage) == stages && !needs_program(*op)) names.emplace_back(op->name);
  return absl::StrJoin(names, " ");
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string bash_values(const values& of) {
  return absl::StrCat("words=\"", of.words, "\" files=", of.files ? "1" : "");
}

/// Returns "run:--io) words=… ;;" for each option that has a value.
std::string bash_options(const CLI::App& verb) {
  std::string cases;
  for (const CLI::Option* o : verb.get_options()) {
    if (o->get_positional() || o->get_items_expected_max() == 0) continue;
    std::vector<std::string> patterns;
    for (auto& name : names_of(*o)) patterns.push_back(absl::StrCat(verb.get_name(), ":", name));
    absl::StrAppend(&cases, "    ", absl::StrJoin(patterns, "|"), ") ", bash_values(values_of(*o)), " ;;\n");
  }
  return cases;
}

// bash splits words at = and :, which are separate words then; zsh does not. A quoted plan is one word that includes
// its quote, and the text after its last bar is completed.
constexpr const char* kBashScript = R"script(# Completion of sluice for @SHELL@
_sluice_plan() {  # the word that is a plan by half
  local word=$1 before names last name
  case $word in
    *\|*) before="${word%|*}| " last=${word##*|} names="@STAGES@" ;;
    *) before=${word:0:1} last=${word:1} names="@SOURCES@" ;;
  esac
  last=${last##* }
  compopt -o nospace +o filenames 2>/dev/null
  for name in $names; do
    [[ $name == "$last"* ]] && COMPREPLY+=("$before$name")
  done
}
_sluice() {
  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} at=$((COMP_CWORD - 1)) options= takes_plan= words= files= prefix= name=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "@VERBS@ --help --version" -- "$word"))
    return
  fi
  case $verb in
@CASES@  esac
  # The option whose value this is, if it is one: --io ur, --io=ur, --output jsonl:fi, as one word or as several.
  case $word in [:=]) word= at=$COMP_CWORD ;; esac
  if [ "${COMP_WORDS[at]}" = : ] && [ "$at" -gt 2 ]; then
    words= files=1 at=-1
  elif [ "${COMP_WORDS[at]}" = = ]; then
    at=$((at - 1))
  fi
  case $word in
    --*=*) prefix=${word%%=*}= name=${word%%=*} word=${word#*=} ;;
    *) [ "$at" -ge 2 ] && name=${COMP_WORDS[at]} ;;
  esac
  case $verb:$name in
@OPTIONS@    *)
      case $word in
        -?*) words=$options files= ;;
        [\'\"]*) [ -n "$takes_plan" ] && { _sluice_plan "$word"; return; } ;;
      esac ;;
  esac
  case $name:$word in
    --output:*:*) prefix=$prefix${word%%:*}: word=${word#*:} words= files=1 ;;
  esac
  local IFS=$' \t\n'
  [ -n "$words" ] && COMPREPLY=($(compgen -W "$words" -- "$word"))
  case ${COMPREPLY[*]} in *:) compopt -o nospace 2>/dev/null ;; esac
  IFS=$'\n'
  [ -n "$files" ] && COMPREPLY+=($(compgen -f -- "$word"))
  [ -n "$prefix" ] && COMPREPLY=("${COMPREPLY[@]/#/$prefix}")
  return 0
}
complete -o filenames -F _sluice sluice
)script";

std::string bash_script(const CLI::App& app, const char* shell) {
  std::vector<std::string> verbs;
  std::string cases, options;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs.push_back(verb->get_name());
    absl::StrAppend(&cases, "    ", verb->get_name(), ") options=\"", options_of(*verb),
                    "\" takes_plan=", takes_plan(*verb) ? "1 " : " ", bash_values(arguments_of(*verb)), " ;;\n");
    absl::StrAppend(&options, bash_options(*verb));
  }
  return absl::StrReplaceAll(kBashScript, {{"@SHELL@", shell},
                                           {"@STAGES@", operators_of(true)},
                                           {"@SOURCES@", operators_of(false)},
                                           {"@VERBS@", absl::StrJoin(verbs, " ")},
                                           {"@CASES@", cases},
                                           {"@OPTIONS@", options}});
}

std::string zsh_script(const CLI::App& app) {
  return bash_script(app,
                     "zsh. In ~/.zshrc, after compinit:  source <(sluice completion zsh)\n"
                     "autoload -U +X bashcompinit && bashcompinit");
}

std::string in_single_quotes(const std::string& text) {
  return "'" + absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}, {"\n", " "}}) + "'";
}

/// Returns the text after "complete -c sluice -n CONDITION": the values that an option or an argument accepts.
std::string fish_values(const values& of) {
  return absl::StrCat(of.files ? " -F" : " -f",
                      of.words.empty() ? "" : absl::StrCat(" -a ", in_single_quotes(of.words)));
}

constexpr const char* kFishBegin =
    R"script(# Completion of sluice for fish:  sluice completion fish > ~/.config/fish/completions/sluice.fish
function __sluice_plan
  set -l text (commandline -ct)
  string match -qr '^[\'"]' -- $text; or return
  set text (string sub -s 2 -- $text)
  set -l before (string match -r '^.*\| *' -- $text)
  set -l names @SOURCES@
  set -q before[1]; and set names @STAGES@
  for name in $names
    echo "$before$name"
  end
end
complete -c sluice -n __fish_use_subcommand -f
)script";

std::string fish_script(const CLI::App& app) {
  std::string out =
      absl::StrReplaceAll(kFishBegin, {{"@STAGES@", operators_of(true)}, {"@SOURCES@", operators_of(false)}});
  for (const CLI::App* verb : verbs_of(app)) {
    absl::StrAppend(&out, "complete -c sluice -n __fish_use_subcommand -a ", verb->get_name(), " -d ",
                    in_single_quotes(verb->get_description()), "\n");
    const std::string behind =
        absl::StrCat("complete -c sluice -n '__fish_seen_subcommand_from ", verb->get_name(), "'");
    absl::StrAppend(&out, behind, fish_values(arguments_of(*verb)), "\n");
    if (takes_plan(*verb)) absl::StrAppend(&out, behind, " -a '(__sluice_plan)'\n");
    for (const CLI::Option* o : verb->get_options()) {
      if (o->get_positional()) continue;
      absl::StrAppend(&out, behind);
      for (auto& name : o->get_lnames()) absl::StrAppend(&out, " -l ", name);
      for (auto& name : o->get_snames()) absl::StrAppend(&out, " -s ", name);
      if (o->get_items_expected_max() > 0) absl::StrAppend(&out, " -r", fish_values(values_of(*o)));
      absl::StrAppend(&out, " -d ", in_single_quotes(o->get_description()), "\n");
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app, "bash. In ~/.bashrc:  source <(sluice completion bash)");
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  throw misuse(absl::StrCat("completion is for bash, zsh or fish, not ", shell));
}

}  // namespace sluice::lib::cli
