// SPDX-License-Identifier: Apache-2.0
#include "service/client/absolute_paths.hpp"

#include <filesystem>
#include <system_error>

#include "base/text/path_scheme.hpp"
#include "io/paths/glob.hpp"
#include "plan/moved_texts.hpp"

namespace sluice::lib {
namespace {

/// Returns the folder with its marks of patterns escaped, because it precedes a pattern.
std::string folder_in_pattern(std::string_view folder) {
  std::string out;
  for (const char c : folder) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) out += '\\';
    if (c == ',') out += "[,]";
    else out += c;
  }
  return out;
}

std::string one_absolute_path(std::string_view path, bool is_pattern) {
  if (path.empty() || path == "-" || path.starts_with('/') || !detail::scheme_of(path).empty())
    return std::string(path);
  std::error_code unknown;
  const std::string here = std::filesystem::current_path(unknown).string();
  if (unknown) return std::string(path);
  while (path.starts_with("./")) path.remove_prefix(2);
  std::string whole = is_pattern ? folder_in_pattern(here) : here;
  if (!whole.ends_with('/')) whole += '/';
  return whole.append(path == "." ? std::string_view() : path);
}

std::string expression_with_absolute_paths(std::string_view expression) {
  return expression_with_texts(expression, [](std::string_view before, std::string_view text) {
    const bool is_file = before.ends_with("read_file(") && text.find('\\') == text.npos;
    return is_file ? one_absolute_path(text, false) : std::string(text);
  });
}

}  // namespace

std::string absolute_path(std::string_view path) {
  std::error_code unknown;
  const bool is_plain = path.find_first_of("*?[,{") == path.npos;
  if (is_plain || std::filesystem::exists(std::filesystem::path(path), unknown)) return one_absolute_path(path, false);
  std::string all;
  for (const std::string& pattern : detail::split_patterns(std::string(path)))
    all.append(all.empty() ? "" : ",").append(one_absolute_path(pattern, true));
  return all;
}

std::string plan_text_with_absolute_paths(const node& n) {
  return changed_plan_text(n, {.path = absolute_path, .expression = expression_with_absolute_paths});
}

}  // namespace sluice::lib
