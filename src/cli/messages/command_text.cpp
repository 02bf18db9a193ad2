// SPDX-License-Identifier: Apache-2.0
#include "cli/messages/command_text.hpp"

#include <algorithm>

namespace sluice::lib::cli {
namespace {

/// The first words of commands. A verb or an option follows `sluice`.
constexpr std::string_view kPrograms[] = {"sluice ", "mkdir -p ", "source <("};
/// Words of a sentence that follow a command: "sluice ls . lists it".
constexpr std::string_view kWordsAfter[] = {"and",   "as",    "converts", "counts", "describes", "for",   "has",
                                            "if",    "is",    "lists",    "or",     "prints",    "reads", "reports",
                                            "shows", "sorts", "that",     "which",  "with",      "writes"};
/// Words that follow `sluice` where it is the subject of a sentence.
constexpr std::string_view kWordsOfSubject[] = {"writes", "reads", "was", "has",    "is",
                                                "does",   "and",   "or",  "cannot", "prints"};

bool is_one_of(const auto& list, std::string_view word) { return std::ranges::find(list, word) != std::end(list); }

std::string_view word_at(std::string_view text) { return text.substr(0, text.find_first_of(" ;,:.`)")); }

/// Returns the end of the shell word that begins `text`: blanks in quotes belong to it.
std::size_t end_of_word(std::string_view text) {
  char quote = 0;
  std::size_t i = 0;
  for (; i != text.size() && (quote != 0 || text[i] != ' '); ++i) {
    if (text[i] == '\\' && quote != '\'' && i + 1 != text.size()) ++i;
    else if (text[i] == quote) quote = 0;
    else if (quote == 0 && (text[i] == '\'' || text[i] == '"')) quote = text[i];
  }
  return quote == 0 ? i : std::min(text.find(' '), text.size());  // an apostrophe of the sentence
}

/// Returns the length of the command that begins `text`; 0: none does.
std::size_t command_bytes(std::string_view text) {
  if (text[0] == '`') {
    const std::size_t close = text.find('`', 1);
    return close == text.npos ? 0 : close + 1;
  }
  const auto* program = std::ranges::find_if(kPrograms, [&](std::string_view p) { return text.starts_with(p); });
  if (program == std::end(kPrograms)) return 0;
  if (is_one_of(kWordsOfSubject, word_at(text.substr(std::min(program->size(), text.size()))))) return 0;
  std::size_t end = program->find(' ');
  while (end < text.size()) {
    const std::string_view rest = text.substr(end + 1);
    if (is_one_of(kWordsAfter, word_at(rest))) return end;
    end += 1 + end_of_word(rest);
    const char last = text[end - 1];
    if (last == ';' || last == ',' || last == ':' || last == ')' || last == '`') return end;
  }
  return std::min(end, text.size());
}

}  // namespace

std::string with_whole_commands(std::string_view message) {
  std::string out(message);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const bool begins_word = i == 0 || out[i - 1] == ' ' || out[i - 1] == '(';
    const std::size_t n = begins_word ? command_bytes(std::string_view(message).substr(i)) : 0;
    if (n == 0) continue;
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(i), out.begin() + static_cast<std::ptrdiff_t>(i + n), ' ',
                 kBlankOfCommand);
    i += n - 1;
  }
  return out;
}

std::string with_blanks(std::string text) {
  std::ranges::replace(text, kBlankOfCommand, ' ');
  return text;
}

}  // namespace sluice::lib::cli
