// SPDX-License-Identifier: Apache-2.0
#include "cli/messages/repeated_reasons.hpp"

#include <absl/strings/str_cat.h>

#include <string_view>

namespace sluice::lib::cli {
namespace {

/// Removes "bytes 0-99, attempt 3: " and " (request id …)", which differ between errors of one cause.
std::string cause_of(const status& why) {
  std::string_view text = why.message();
  if (const std::size_t at = text.rfind(" (request id "); at != text.npos) text = text.substr(0, at);
  constexpr std::string_view kAttempt = ", attempt ";
  if (const std::size_t at = text.find(kAttempt); at != text.npos) {
    const std::size_t end = text.find(": ", at);
    if (end != text.npos) text = text.substr(end + 2);
  }
  return std::string(to_string(why.code())).append(" ").append(text);
}

}  // namespace

std::string repeated_reasons::text_of(const status& why, const std::string& file) {
  const std::string& named = why.where().file.empty() ? file : why.where().file;
  const auto [first, is_new] = first_files_.try_emplace(cause_of(why), named);
  if (!is_new) return absl::StrCat(named, ": the same error as of ", first->second);
  return why.where().file.empty() ? absl::StrCat(file, ": ", why.to_string()) : why.to_string();
}

}  // namespace sluice::lib::cli
