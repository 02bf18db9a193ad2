// SPDX-License-Identifier: Apache-2.0
#include "cli/run_files.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/locked_target.hpp"
#include "engine/quarantine_file.hpp"
#include "io/file_router.hpp"
#include "output/shard_names.hpp"
#include "plan/parts.hpp"
#include "sluice/io/path_pattern.hpp"
#include "sluice/op/list_files.hpp"

namespace sluice::lib::cli {
namespace {

/// Of an output whose shards are not counted beforehand: how many of their names are looked at.
constexpr std::uint64_t kShardsLookedAt = 1000;

constexpr int kLinksMax = 40;  // as Linux has it

/// Links are followed, also those to files that are not there yet.
std::string full_path(const std::string& path) {
  std::error_code unknown;
  std::filesystem::path at = std::filesystem::absolute(path, unknown);
  for (int links = 0; links != kLinksMax && std::filesystem::is_symlink(at, unknown); ++links)
    at = at.parent_path() / std::filesystem::read_symlink(at, unknown);
  return std::filesystem::weakly_canonical(at, unknown).string();
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code unknown;
  return std::filesystem::equivalent(a, b, unknown) || full_path(a) == full_path(b);
}

/// What a plan reads and where it keeps bad elements, its inner plans included.
struct plan_files final : part_visitor {
  std::vector<std::string> inputs, quarantines;

  void path(const file_path& p) override { add_input(p.value); }
  void add_input(const std::string& path) {
    if (path != "-" && !path.empty() && !detail::is_remote(path)) inputs.push_back(detail::without_file_scheme(path));
  }
  void plan(const node_ptr& p) override { add(*p); }
  void add(const node& n) {
    if (n.errors.quarantine.is_given()) quarantines.push_back(n.errors.quarantine.path);
    if (n.op == &list_files_op)
      for (const auto pattern : absl::StrSplit(n.as<list_files_arguments>().pattern.value, ','))
        add_input(std::string(pattern));
    visit_parts(n, *this);
    for (const node_ptr& input : n.inputs) add(*input);
  }

  /// Is this file one of the inputs? Of a pattern those are what it matches now.
  bool reads(const std::string& file) const {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(file, unknown)) return false;
    return std::any_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
      if (is_same_file(input, file)) return true;
      if (input.find_first_of("*?[") == input.npos) return false;
      return path_pattern(std::filesystem::absolute(input, unknown).lexically_normal().string())
          .matches(full_path(file));
    });
  }
};

plan_files files_of_plan(const node& plan, const error_arguments& a) {
  plan_files files;
  files.add(plan);
  if (!a.quarantine.empty()) files.quarantines.push_back(a.quarantine);
  std::sort(files.quarantines.begin(), files.quarantines.end());
  files.quarantines.erase(std::unique(files.quarantines.begin(), files.quarantines.end()), files.quarantines.end());
  return files;
}

/// The local files that an output is; empty: it is none.
std::vector<std::string> files_of_output(const output_options& o) {
  if (o.path.empty() || o.descriptor >= 0 || o.is_remote()) return {};
  if (!o.is_sharded()) return {o.path};
  const shard_names names(o.path, o.shard_bytes != 0 ? 0 : o.shards);
  if (!names.check().ok()) return {};  // opening it tells why
  std::vector<std::string> files;
  const std::uint64_t count = o.shard_bytes != 0 ? kShardsLookedAt : o.shards;
  for (std::uint64_t i = 0; i != count; ++i) files.push_back(names.name(i));
  return files;
}

/// Is `kept` the file `whole`, or what that is while it is written?
bool is_part_of(const std::string& kept, const std::string& whole) {
  const std::string name = std::filesystem::path(kept).filename().string();
  const std::string other = std::filesystem::path(whole).filename().string();
  std::error_code unknown;
  // Most of many shards differ by their names, and are not looked for.
  const bool is_there = std::filesystem::symlink_status(kept, unknown).type() != std::filesystem::file_type::not_found;
  if (name.find(other) == name.npos && !is_there) return false;
  return is_same_file(kept, whole) || is_same_file(kept, whole + ".partial") || is_same_file(kept, lock_beside(whole));
}

void check_kept_apart(const std::string& kept, const std::string& whole, std::string_view what) {
  if (whole.empty() || !is_part_of(kept, whole)) return;
  throw misuse(absl::StrCat("bad elements cannot be kept in ", kept, ": it is ", std::string(what), " ", whole,
                            ", or what that is while it is written; name another file"));
}

void check_checkpoint(const run_arguments& a, const std::string& output) {
  if (is_same_file(output, a.checkpoint_file)) throw misuse("--output and --checkpoint are the same file, " + output);
  for (auto& [whole, other] : {std::pair(output, a.checkpoint_file), std::pair(a.checkpoint_file, output)}) {
    if (whole.empty()) continue;
    if (is_same_file(whole + ".partial", other))
      throw misuse(other + " is the name of " + whole + " while that is written: choose another");
    if (is_same_file(lock_beside(whole), other))
      throw misuse(other + " is the lock of " + whole + " while that is written: choose another");
  }
  if (is_same_file(output, a.resume_file)) throw misuse("--output and --resume are the same file, " + output);
}

}  // namespace

void check_run_files(const node& plan, const run_arguments& a, const output_options& output) {
  check_checkpoint(a, output.path);
  const plan_files files = files_of_plan(plan, a.errors);
  const std::vector<std::string> outputs = files_of_output(output);
  for (const std::string& kept : files.quarantines) {
    for (const std::string& whole : outputs) check_kept_apart(kept, whole, "the output");
    check_kept_apart(kept, a.checkpoint_file, "the checkpoint");
    check_kept_apart(kept, a.resume_file, "the checkpoint");
  }
  if (a.replaces_inputs) return;
  for (const std::string& whole : outputs)
    if (files.reads(whole))
      throw misuse(
          absl::StrCat(whole, " is the output and an input of the plan, which it would replace: name another output"));
}

void check_quarantines(const node& plan, const error_arguments& a) {
  const plan_files files = files_of_plan(plan, a);
  for (const std::string& kept : files.quarantines) {
    if (files.reads(kept))
      throw misuse(absl::StrCat("bad elements cannot be kept in ", kept, ": the plan reads it; name another file"));
    if (status why = check_quarantine_file(kept); !why.ok()) throw_status(why);
  }
}

}  // namespace sluice::lib::cli
