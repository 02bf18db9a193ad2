// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/matched_files.hpp"

#include <utility>

#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/glob.hpp"
#include "op/bagz/bagz_files.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::cli {
namespace {

std::vector<std::string> matches_of(runtime& rt, const std::string& pattern) {
  if (is_bagz_shard_set(pattern)) return bagz_files(pattern).value();
  std::vector<std::string> files;
  for (std::string& path : sync_wait(rt, glob(files_of(rt), pattern, io_deadline(rt))))
    if (!is_folder(path)) files.push_back(std::move(path));
  if (files.empty())
    throw_status(
        not_found_error("no file matches, only folders do: a ** at the end of a pattern matches the files in them")
            .in_file(pattern));
  return files;
}

}  // namespace

bool is_file_pattern(const std::string& name) {
  if (name == "-" || name.starts_with("http://") || name.starts_with("https://")) return false;
  if (is_bagz_shard_set(name)) return true;
  const std::size_t scheme_end = detail::scheme_of(name).empty() ? 0 : name.find("://") + 3;
  return !detail::glob_pattern(name.substr(scheme_end)).is_plain() && !is_file(name);
}

bool is_file_pattern_and_no_plan(const std::string& text) {
  return text.find_first_of("(\"|{") == std::string::npos && !text.starts_with("@") && is_file_pattern(text);
}

std::vector<std::string> matched_files(runtime& rt, const std::vector<std::string>& names,
                                       bool (*is_pattern)(const std::string&)) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (!is_pattern(name)) {
      files.push_back(name);
      continue;
    }
    for (std::string& file : matches_of(rt, name)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace sluice::lib::cli
