// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/run_files.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/files/locked_target.hpp"
#include "cli/inputs/file_table.hpp"
#include "cli/verbs.hpp"
#include "engine/quarantine/quarantine_file.hpp"
#include "output/shard_names.hpp"

namespace sluice::lib::cli {
namespace {

/// The number of names examined if the number of an output's shards is not known beforehand.
constexpr std::uint64_t kShardsLookedAt = 1000;

/// Returns the files of the run that it does not write, and the files for bad elements.
file_table files_of_run(const node& plan, const error_arguments& a, const std::string& plan_file) {
  file_table files;
  files.add_plan(plan);
  files.add(file_role::quarantine, a.quarantine);
  files.add(file_role::plan_text, plan_file);
  return files;
}

/// Returns the local files of an output; empty if it has none.
std::vector<std::string> files_of_output(const output_options& o) {
  if (o.path.empty() || o.descriptor >= 0 || o.is_remote()) return {};
  if (!o.is_sharded()) return {o.path};
  const shard_names names(o.path, o.shard_bytes != 0 ? 0 : o.shards);
  if (!names.check().ok()) return {};  // opening it reports the reason
  std::vector<std::string> files;
  const std::uint64_t count = o.shard_bytes != 0 ? kShardsLookedAt : o.shards;
  for (std::uint64_t i = 0; i != count; ++i) files.push_back(names.name(i));
  return files;
}

/// Returns true if `kept` is the file `whole`, or its partial file or lock.
bool is_part_of(const std::string& kept, const std::string& whole) {
  const std::string name = std::filesystem::path(kept).filename().string();
  const std::string other = std::filesystem::path(whole).filename().string();
  std::error_code unknown;
  // The names of most of many shards differ, and are not looked up.
  const bool exists = std::filesystem::symlink_status(kept, unknown).type() != std::filesystem::file_type::not_found;
  if (name.find(other) == name.npos && !exists) return false;
  return is_same_file(kept, whole) || is_same_file(kept, whole + ".partial") || is_same_file(kept, lock_beside(whole));
}

void check_kept_apart(const std::string& kept, const std::string& whole, std::string_view what) {
  if (whole.empty() || !is_part_of(kept, whole)) return;
  throw misuse(absl::StrCat("bad elements cannot be stored in ", kept, ": it is ", std::string(what), " ", whole,
                            ", or its temporary name; name another file"));
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
  const std::pair<const char*, std::string> reports[] = {
      {"--report", a.report.json_file}, {"--trace", a.report.trace_file}, {"--html", a.report.html_file}};
  for (const auto& [option, file] : reports) {
    if (is_same_file(output, file)) throw misuse(absl::StrCat("--output and ", option, " are the same file, ", output));
    if (is_same_file(a.checkpoint_file, file))
      throw misuse(absl::StrCat("--checkpoint and ", option, " are the same file, ", a.checkpoint_file));
  }
  if (is_same_file(output, a.resume_file)) throw misuse("--output and --resume are the same file, " + output);
}

}  // namespace

void check_run_files(const node& plan, const run_arguments& a, const output_options& output) {
  check_checkpoint(a, output.path);
  file_table files = files_of_run(plan, a.errors, a.plan_file);
  files.add(file_role::checkpoint, a.resume_file);
  files.add(file_role::checkpoint, a.checkpoint_file);
  const std::vector<std::string> outputs = files_of_output(output);
  for (const std::string& kept : files.with_role(file_role::quarantine)) {
    for (const std::string& whole : outputs) check_kept_apart(kept, whole, "the output");
    check_kept_apart(kept, a.checkpoint_file, "the checkpoint");
    check_kept_apart(kept, a.resume_file, "the checkpoint");
    files.check_target(file_role::quarantine, kept);
  }
  for (const std::string& whole : outputs) files.check_target(file_role::output, whole);
  files.check_target(file_role::checkpoint, a.checkpoint_file);
}

quarantine_locks lock_quarantines(const node& plan, const error_arguments& a) {
  file_table files = files_of_run(plan, a, "");
  quarantine_locks locks;
  for (const std::string& kept : files.with_role(file_role::quarantine)) {
    files.check_target(file_role::quarantine, kept);
    const status why = check_quarantine_file(kept, locks.emplace_back());
    if (why.code() == status_code::failed_precondition || why.code() == status_code::invalid_argument)
      throw misuse(absl::StrCat(kept, ": ", std::string(why.message())));
    if (!why.ok()) throw_status(why);
  }
  return locks;
}

}  // namespace sluice::lib::cli
