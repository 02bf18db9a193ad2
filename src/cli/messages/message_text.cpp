// SPDX-License-Identifier: Apache-2.0
#include "cli/messages/message_text.hpp"

#include <algorithm>

#include "base/text/redacted.hpp"

namespace sluice::lib::cli {
namespace {

/// Messages of the library, which does not know the program's options.
constexpr std::string_view kLate[] = {" until the deadline", "the deadline leaves no time for another attempt"};

/// Removes " (iterate_options::rebase)" and the like, which are of no use in the program.
std::string without_cpp_names(std::string text) {
  constexpr std::string_view kOfName = "abcdefghijklmnopqrstuvwxyz0123456789_:";
  for (std::size_t at = text.find(" ("); at != text.npos; at = text.find(" (", at + 1)) {
    const std::size_t end = text.find_first_not_of(kOfName, at + 2);
    if (end == text.npos || text[end] != ')' || text.substr(at, end - at).find("::") == text.npos) continue;
    text.erase(at, end + 1 - at);
    --at;
  }
  return text;
}

}  // namespace

std::string message_text(std::string_view words) {
  std::string text = detail::redacted(words);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < ' ' && c != '\n' && c != '\t') || byte == 0x7f) c = '?';
  }
  text = without_cpp_names(std::move(text));
  const std::size_t first_line = std::min(text.find('\n'), text.size());
  const bool is_late = std::any_of(std::begin(kLate), std::end(kLate),
                                   [&](std::string_view late) { return text.find(late) < first_line; });
  if (is_late) text.insert(first_line, "; --io-timeout sets how long a file may take to answer");
  return text;
}

}  // namespace sluice::lib::cli
