// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "cli/description.hpp"
#include "cli/verbs.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib::cli {
namespace {

std::vector<std::string> options_of(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* o : verb.get_options()) {
    for (auto& name : o->get_lnames()) names.push_back("--" + name);
    for (auto& name : o->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// The first words of a plan: sources as they are called, and stages behind a bar.
std::vector<std::string> names_of(op_info::shape_type shape) {
  std::vector<std::string> names;
  for (const op_info* op : operators())
    if ((op->shape == op_info::stage) == (shape == op_info::stage)) names.emplace_back(op->name);
  return names;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// bash splits the word at its quotes; what is completed is the text after the last bar of the plan.
std::string bash_script(const CLI::App& app) {
  std::vector<std::string> verbs;
  std::string cases;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs.push_back(verb->get_name());
    absl::StrAppend(&cases, "    ", verb->get_name(), ") options=\"", absl::StrJoin(options_of(*verb), " "), "\" ;;\n");
  }
  return absl::StrCat(
      "# Completion of sluice for bash. In ~/.bashrc:  source <(sluice completion bash)\n"
      "_sluice() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} options=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"",
      absl::StrJoin(verbs, " "),
      " --help --version\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $verb in\n",
      cases,
      "  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")); return ;;\n"
      "    \\'*\\|*|\\\"*\\|*)  # behind a bar of a quoted plan: stages\n"
      "      local before=${word%|*}'| ' last=${word##*|} name\n"
      "      last=${last##* }\n"
      "      compopt -o nospace 2>/dev/null\n"
      "      for name in ",
      absl::StrJoin(names_of(op_info::stage), " "),
      "; do\n"
      "        [[ $name == \"$last\"* ]] && COMPREPLY+=(\"$before$name\")\n"
      "      done\n"
      "      return ;;\n"
      "    \\'*|\\\"*)  # the begin of a quoted plan: sources\n"
      "      local quote=${word:0:1} last=${word:1} name\n"
      "      compopt -o nospace 2>/dev/null\n"
      "      for name in ",
      absl::StrJoin(names_of(op_info::source), " "),
      "; do\n"
      "        [[ $name == \"$last\"* ]] && COMPREPLY+=(\"$quote$name\")\n"
      "      done\n"
      "      return ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -f -- \"$word\"))\n"
      "}\n"
      "complete -o filenames -F _sluice sluice\n");
}

std::string zsh_script(const CLI::App& app) {
  return absl::StrCat(
      "# Completion of sluice for zsh. In ~/.zshrc, after compinit:  source <(sluice completion zsh)\n"
      "autoload -U +X bashcompinit && bashcompinit\n",
      bash_script(app));
}

std::string in_single_quotes(const std::string& text) {
  return "'" + absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}, {"\n", " "}}) + "'";
}

std::string fish_script(const CLI::App& app) {
  std::string out =
      "# Completion of sluice for fish:  sluice completion fish > ~/.config/fish/completions/sluice.fish\n"
      "complete -c sluice -n __fish_use_subcommand -f\n";
  for (const CLI::App* verb : verbs_of(app)) {
    absl::StrAppend(&out, "complete -c sluice -n __fish_use_subcommand -a ", verb->get_name(), " -d ",
                    in_single_quotes(verb->get_description()), "\n");
    for (const CLI::Option* o : verb->get_options()) {
      if (o->get_positional()) continue;
      absl::StrAppend(&out, "complete -c sluice -n '__fish_seen_subcommand_from ", verb->get_name(), "'");
      for (auto& name : o->get_lnames()) absl::StrAppend(&out, " -l ", name);
      for (auto& name : o->get_snames()) absl::StrAppend(&out, " -s ", name);
      absl::StrAppend(&out, o->get_items_expected_max() > 0 ? " -r" : "", " -d ",
                      in_single_quotes(o->get_description()), "\n");
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  if (shell == "zsh") return zsh_script(app);
  if (shell == "fish") return fish_script(app);
  throw misuse(absl::StrCat("completion is for bash, zsh or fish, not ", shell));
}

}  // namespace sluice::lib::cli
