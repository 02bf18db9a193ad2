// SPDX-License-Identifier: Apache-2.0
#include "cli/sinks/json_members.hpp"

namespace sluice::lib::cli {
namespace {

/// Returns the position after the closing quote of the string that begins at `at`.
std::size_t after_string(std::string_view s, std::size_t at) {
  for (++at; at < s.size() && s[at] != '"'; ++at)
    if (s[at] == '\\') ++at;
  return at + 1;
}

/// Returns the position after the value that begins at `at`: that of the comma or bracket that follows it.
std::size_t after_value(std::string_view s, std::size_t at) {
  for (int depth = 0; at < s.size();) {
    char c = s[at];
    if (c == '"') {
      at = after_string(s, at);
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return at;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> members_of_json(std::string_view json) {
  std::vector<std::pair<std::string_view, std::string_view>> members;
  if (!json.starts_with('{')) return members;
  for (std::size_t at = 1; at < json.size() && json[at] == '"';) {
    std::size_t name_end = after_string(json, at), value = name_end + 1;  // a colon, without blanks
    std::size_t end = after_value(json, value);
    members.emplace_back(json.substr(at + 1, name_end - at - 2), json.substr(value, end - value));
    at = end + 1;
  }
  return members;
}

std::vector<std::string_view> items_of_json(std::string_view json) {
  std::vector<std::string_view> items;
  if (!json.starts_with('[')) return items;
  for (std::size_t at = 1; at < json.size() && json[at] != ']';) {
    std::size_t end = after_value(json, at);
    items.push_back(json.substr(at, end - at));
    at = end + (end < json.size() && json[end] == ',');
  }
  return items;
}

std::string_view json_at(std::string_view json, std::string_view path) {
  auto members = members_of_json(json);
  for (auto [name, value] : members)
    if (name == path) return value;
  for (auto [name, value] : members) {
    if (!path.starts_with(name) || path.size() <= name.size() || path[name.size()] != '.') continue;
    if (std::string_view inner = json_at(value, path.substr(name.size() + 1)); !inner.empty()) return inner;
  }
  return {};
}

}  // namespace sluice::lib::cli
