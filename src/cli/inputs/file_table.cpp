// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_table.hpp"

#include <absl/strings/str_cat.h>
#include <sys/stat.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "base/files/locked_target.hpp"
#include "cli/verbs.hpp"
#include "expr/files_read.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/glob.hpp"
#include "plan/plan_parts.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/path_pattern.hpp"
#include "sluice/op/list_files.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {
namespace {

constexpr int kSymbolicLinksMax = 40;  // the same limit as Linux

/// Resolves the links of a path, including links to files that do not exist yet.
std::string resolved_path(const std::string& path) {
  std::error_code unknown;
  std::filesystem::path at = std::filesystem::absolute(path, unknown);
  for (int links = 0; links != kSymbolicLinksMax && std::filesystem::is_symlink(at, unknown); ++links)
    at = at.parent_path() / std::filesystem::read_symlink(at, unknown);
  return std::filesystem::weakly_canonical(at, unknown).string();
}

/// Adds the files that a plan names to a table.
class plan_walk final : public part_visitor {
 public:
  explicit plan_walk(file_table& to) : to_(to) {}
  void path(const file_path& p) override { to_.add(file_role::input, p.value); }
  void plan(const node_ptr& p) override { visit(*p); }
  void function(const function_ptr& f) override {
    if (!f->is_expression) return;
    for (const std::string& table : files_read_by_expression(f->name)) to_.add(file_role::lookup_table, table);
  }
  void visit(const node& n) {
    if (n.errors.quarantine.is_given()) to_.add(file_role::quarantine, n.errors.quarantine.path);
    if (n.op == &list_files_op)
      for (const std::string& pattern : detail::split_patterns(n.as<list_files_arguments>().pattern.value))
        to_.add(file_role::input, pattern);
    visit_parts(n, *this);
    for (const node_ptr& input : n.inputs) visit(*input);
  }

 private:
  file_table& to_;
};

std::string_view words_for(file_role role) {
  switch (role) {
    case file_role::input: return "an input of the plan";
    case file_role::lookup_table: return "a lookup table of the plan";
    case file_role::plan_text: return "the file of the plan";
    case file_role::quarantine: return "the file for bad elements";
    case file_role::checkpoint: return "the checkpoint";
    case file_role::output: return "the output";
    case file_role::copied: return "a file to copy";
    case file_role::copy: return "a copy";
  }
  return "a file";
}

/// Returns true if a file that the run uses as `used` must not be written as `written`. A checkpoint may replace the
/// one from which the run resumes.
bool excludes(file_role used, file_role written) {
  if (used == file_role::checkpoint) return written == file_role::output;
  return used == file_role::input || used == file_role::lookup_table || used == file_role::plan_text ||
         used == file_role::copied;
}

/// Returns the existing files that a writer of `target` removes or overwrites besides it: its partial file and its
/// lock. A quarantine has no partial file.
std::vector<std::string> files_beside(file_role role, const std::string& target) {
  const bool has_partial = role == file_role::output || role == file_role::checkpoint || role == file_role::copy;
  if (!has_partial && role != file_role::quarantine) return {};
  std::error_code unknown;
  const auto type = std::filesystem::status(target, unknown).type();
  if (type != std::filesystem::file_type::regular && type != std::filesystem::file_type::not_found) return {};
  const std::string whole = resolved_path(target);
  std::vector<std::string> files;
  for (std::string name : {whole + ".partial", lock_beside(whole)})
    if ((has_partial || name == lock_beside(whole)) && std::filesystem::exists(name, unknown))
      files.push_back(std::move(name));
  return files;
}

file_identity identity_of(const std::string& path) {
  struct stat is{};
  if (::stat(path.c_str(), &is) != 0) return {};
  return {is.st_dev, is.st_ino};
}

/// Returns the identities of the files that match a pattern. If a pattern cannot be listed, the result is empty, and
/// reading it reports the reason.
absl::flat_hash_set<file_identity> identities_of_matches(const std::string& pattern) {
  absl::flat_hash_set<file_identity> found;
  runtime rt({.workers = 1});
  try {
    for (const std::string& path : sync_wait(rt, glob(files_of(rt), pattern, io_deadline(rt))))
      found.insert(identity_of(path));
  } catch (const std::exception&) { found.clear(); }
  return found;
}

}  // namespace

bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code unknown;
  return std::filesystem::equivalent(a, b, unknown) || resolved_path(a) == resolved_path(b);
}

void file_table::add(file_role role, const std::string& path) {
  if (path.empty() || path == "-" || detail::is_remote(path)) return;
  std::string local = detail::without_file_scheme(path);
  if (!known_.emplace(role, local).second) return;
  const std::size_t index = entries_.size();
  by_path_[resolved_path(local)].push_back(index);
  if (const file_identity is = identity_of(local); is != file_identity()) by_identity_[is].push_back(index);
  if (role == file_role::input && !detail::glob_pattern(local).is_plain()) patterns_.push_back({index, {}});
  entries_.push_back({role, std::move(local)});
}

void file_table::add_plan(const node& plan) { plan_walk(*this).visit(plan); }

std::vector<std::string> file_table::with_role(file_role role) const {
  std::vector<std::string> paths;
  for (const entry& e : entries_)
    if (e.role == role) paths.push_back(e.path);
  std::sort(paths.begin(), paths.end());
  return paths;
}

const file_table::entry* file_table::excluded_by(file_role role, const std::string& path) const {
  auto first_of = [&](const auto& map, const auto& key) -> const entry* {
    const auto found = map.find(key);
    if (found == map.end()) return nullptr;
    for (const std::size_t index : found->second)
      if (excludes(entries_[index].role, role)) return &entries_[index];
    return nullptr;
  };
  if (const entry* e = first_of(by_path_, resolved_path(path))) return e;
  return first_of(by_identity_, identity_of(path));
}

const file_table::entry* file_table::pattern_over(const std::string& path) {
  const file_identity is = identity_of(path);
  if (is == file_identity()) return nullptr;  // a file that does not exist yet matches nothing
  for (pattern& p : patterns_) {
    const entry& e = entries_[p.entry];
    std::error_code unknown;
    if (path_pattern(std::filesystem::absolute(e.path, unknown).lexically_normal().string())
            .matches(resolved_path(path)))
      return &e;
    if (!p.matches) p.matches = identities_of_matches(e.path);
    if (p.matches->contains(is)) return &e;
  }
  return nullptr;
}

void file_table::check_target(file_role role, const std::string& target) {
  if (target.empty() || detail::is_remote(target)) return;
  // The files beside the target are not compared with the matches of patterns: a pattern of a resumed run may match its
  // partial file.
  for (const std::string& name : files_beside(role, target))
    if (const entry* e = excluded_by(role, name))
      throw misuse(absl::StrCat(e->path, " is ", std::string(words_for(e->role)), ", and is replaced while ", target,
                                " is written: name another file"));
  const entry* e = excluded_by(role, target);
  if (!e) e = pattern_over(target);
  if (!e) return;
  if (role == file_role::quarantine)
    throw misuse(absl::StrCat("bad elements cannot be stored in ", target,
                              e->role == file_role::plan_text ? ": it is the file of the plan" : ": the plan reads it",
                              "; name another file"));
  throw misuse(absl::StrCat(target, " is ", std::string(words_for(role)), " and ", std::string(words_for(e->role)),
                            ", which it would replace: name another file"));
}

}  // namespace sluice::lib::cli
