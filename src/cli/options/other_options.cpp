// SPDX-License-Identifier: Apache-2.0
#include "cli/options/other_options.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>

#include <algorithm>

#include "cli/options/typed_command.hpp"

namespace sluice::lib::cli {
namespace {

/// `verbs` and `options` are separated by blanks, with a blank at both ends. In `advice`, VALUE is the option's value,
/// QUOTED the value as a word of a shell, OUTPUT a file of this name or format; the other words are those of typed_command::completed().
struct other_option {
  std::string_view verbs, options, advice, value;
};
constexpr other_option kOtherOptions[] = {
    {" head ", " -c --bytes ", "; rows: sluice head -n 10 FILE; bytes: head -c QUOTED FILE", "10"},
    {" count ", " -l --lines ", "; it counts rows without an option: sluice count FILE", ""},
    {" head cat describe ", " --columns --cols --select --fields -f ", "; use: sluice select QUOTED FILE", "NAME"},
    {" head count describe ", " --where --filter --query ", "; use: sluice VERB 'PLAN | filter(VALUE)'", "CONDITION"},
    {" cat select ", " --where --filter --query ", "; use: sluice run 'PLAN | filter(VALUE)' --output jsonl",
     "CONDITION"},
    {" head cat select ", " --sort --sort-by --order-by ",
     "; the 10 largest: sluice run 'PLAN | top(10, by=VALUE)' --output jsonl", "NUMBER"},
    {" convert ", " --output -o --out ", "; the output is the last argument: sluice convert FILE QUOTED", "out.jsonl"},
    {" cp ", " --output -o --out ", "; the destination is the last argument: sluice cp FILE QUOTED", "copy/"},
    {" dispatcher worker ", " --port -p ", "; use --listen 127.0.0.1:VALUE", "7700"},
    {" cat ", " --output -o --to --format ", "; use: sluice convert FILE OUTPUT", "jsonl"},
    {" cat ", " -n --limit ", "; use: sluice head -n VALUE FILE", "10"},
    {" run ", " --overwrite ", "; an existing file is replaced: leave --overwrite out", ""},
    {" run ", " --output-file --out-file ", "; use --output QUOTED", "out.jsonl"},
    {" ls ", " -l -a -la ", "; use: sluice ls .", ""},
    {" cp ", " -r -R --recursive ", "; a pattern names the files of a folder: sluice cp 'FROM/**' TO/", ""},
    {" head cat count describe select convert explain ", " --header ",
     "; the first row is the header by default: leave --header out", ""}};

bool has_word(std::string_view list, std::string_view word) {
  return list.find(absl::StrCat(" ", std::string(word), " ")) != list.npos;
}

std::string output_named(const std::string& name_or_format) {
  return name_or_format.find_first_of("./") == name_or_format.npos ? "out." + name_or_format : name_or_format;
}

/// Returns a word of the command without the slash at its end.
std::string folder_of(const std::vector<std::string>& arguments, std::size_t word, const std::string& otherwise) {
  const std::vector<std::string> words = typed_command(arguments).words();
  std::string folder = word < words.size() ? words[word] : otherwise;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder.find('\'') == folder.npos ? folder : otherwise;
}

}  // namespace

std::string instead_of_option(std::string_view verb, std::string_view option,
                              const std::vector<std::string>& arguments) {
  const auto* other = std::ranges::find_if(
      kOtherOptions, [&](const other_option& o) { return has_word(o.verbs, verb) && has_word(o.options, option); });
  if (other == std::end(kOtherOptions)) return {};
  std::string value = typed_command(arguments).value_of(option);
  std::vector<std::string> rest = arguments;  // without the option and its value
  const auto at = std::ranges::find_if(rest, [&](const std::string& a) { return a.substr(0, a.find('=')) == option; });
  if (other->value.empty() || value.starts_with('-')) value.clear();
  const bool is_apart = at != rest.end() && *at == option && !value.empty();
  if (at != rest.end()) rest.erase(at, at + 1 + is_apart);
  const bool is_given = !value.empty();
  if (!is_given) value = other->value;
  const std::string advice =
      absl::StrReplaceAll(std::string(other->advice), {{"VALUE", absl::StrReplaceAll(value, {{"'", "'\\''"}})},
                                                       {"OUTPUT", shell_word(output_named(value))},
                                                       {"QUOTED", is_given ? shell_word(value) : value},
                                                       {"FROM", folder_of(rest, 0, "DIR")},
                                                       {"TO/", folder_of(rest, 1, "copy") + "/"},
                                                       {"VERB", std::string(verb)}});
  return typed_command(rest).completed(advice);
}

}  // namespace sluice::lib::cli
