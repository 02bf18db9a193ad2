// SPDX-License-Identifier: Apache-2.0
#include "io/s3/aws_profile.hpp"

#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  return without_blanks(text);
}

/// Returns "a" for "profile a".
std::string_view name_of(std::string_view section) {
  section = trimmed(section);
  constexpr std::string_view kProfile = "profile";
  if (section.starts_with(kProfile) && section.size() > kProfile.size() &&
      (section[kProfile.size()] == ' ' || section[kProfile.size()] == '\t'))
    section = trimmed(section.substr(kProfile.size()));
  return section;
}

}  // namespace

std::optional<std::map<std::string, std::string>> section_of(std::string_view text, std::string_view name) {
  std::optional<std::map<std::string, std::string>> values;
  bool is_inside = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view plain = trimmed(line);
    if (plain.empty() || plain[0] == '#' || plain[0] == ';') continue;
    if (plain[0] == '[') {
      is_inside = name_of(plain.substr(1, plain.find(']') - 1)) == name;
      if (is_inside && !values) values.emplace();
      continue;
    }
    // Indented lines belong to the value above (s3 = …).
    const std::size_t equals = plain.find('=');
    if (!is_inside || equals == std::string_view::npos || line[0] == ' ' || line[0] == '\t') continue;
    std::string key;
    for (char c : trimmed(plain.substr(0, equals))) key += lower(c);
    (*values)[key] = std::string(trimmed(plain.substr(equals + 1)));
  }
  return values;
}

result<aws_profile> read_aws_profile(const surroundings& around, const std::string& wanted) {
  aws_profile profile;
  profile.name = wanted.empty() ? around.text("AWS_PROFILE") : wanted;
  const bool is_named = !profile.name.empty();
  if (!is_named) profile.name = "default";
  bool found = false;
  const std::pair<const char*, const char*> files[] = {{"AWS_CONFIG_FILE", ".aws/config"},
                                                       {"AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"}};
  for (const auto& [variable, usual] : files) {
    const auto named = around.variable(variable);
    auto text = around.read_file(named.value_or(around.in_home(usual)));
    // The default file may be unreadable because HOME is another user's. It was not configured, so this is no error.
    const bool may_be_missing = !named && !is_named;
    if (!text.ok() && (may_be_missing || text.why().code() == status_code::not_found)) continue;
    if (!text.ok()) return text.why();
    auto values = section_of(*text, profile.name);
    if (!values) continue;
    found = true;
    for (auto& [key, value] : *values) profile.values[key] = std::move(value);
  }
  if (is_named && !found)
    return invalid_argument_error(
        joined("there is no profile \"", profile.name,
               "\" in ~/.aws/credentials or ~/.aws/config: AWS_PROFILE or s3_options::profile "
               "names it"));
  return profile;
}

}  // namespace sluice::lib::detail
