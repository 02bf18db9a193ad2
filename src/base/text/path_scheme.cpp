// SPDX-License-Identifier: Apache-2.0
#include "base/text/path_scheme.hpp"

#include <absl/strings/ascii.h>

#include <algorithm>

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kAuthority = "://";

bool may_be_in_scheme(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '-' || c == '.';
}

}  // namespace

bool is_scheme(std::string_view text) {
  return !text.empty() && absl::ascii_isalpha(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), may_be_in_scheme);
}

std::string scheme_of(std::string_view path) {
  const std::size_t end = path.find(kAuthority);
  if (end == path.npos || !is_scheme(path.substr(0, end))) return {};
  std::string scheme(path.substr(0, end));
  absl::AsciiStrToLower(&scheme);
  return scheme;
}

bool is_remote(std::string_view path) {
  const std::string scheme = scheme_of(path);
  return !scheme.empty() && scheme != kLocalScheme;
}

std::string without_file_scheme(std::string path) {
  if (scheme_of(path) == kLocalScheme) path.erase(0, kLocalScheme.size() + kAuthority.size());
  return path;
}

}  // namespace sluice::lib::detail
