// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/inputs/plan_argument.hpp"
#include "cli/verb_options/checkpoint_verb.hpp"
#include "cli/verbs.hpp"
#include "pipeline/checkpoint_text.hpp"
#include "sluice/base/small_file.hpp"
#include "sluice/pipeline/checkpoint_file.hpp"
#include "sluice/pipeline/reshard.hpp"

namespace sluice::lib::cli {
namespace {

std::vector<std::string> described_checkpoint(const std::string& path, const node_ptr& plan) {
  auto bytes = read_small_file(path);
  if (!bytes.ok()) throw_status(bytes.why());
  try {
    return lines_of_checkpoint(*bytes, plan);
  } catch (const error& e) { throw_status(e.why().in_file(path)); }
}

int show_checkpoint(const checkpoint_arguments& a, const node_ptr& plan) {
  if (a.files.size() != 1) throw misuse("checkpoint show takes one file; write sluice checkpoint show FILE");
  for (const std::string& line : described_checkpoint(a.files[0], plan)) std::puts(line.c_str());
  return kOk;
}

/// Prints the lines that only one of them has.
int diff_checkpoints(const checkpoint_arguments& a, const node_ptr& plan) {
  if (a.files.size() != 2) throw misuse("checkpoint diff takes two files; write sluice checkpoint diff A B");
  const std::vector<std::string> before = described_checkpoint(a.files[0], plan);
  const std::vector<std::string> after = described_checkpoint(a.files[1], plan);
  bool differs = false;
  const auto print_missing = [&](const char* mark, const auto& from, const auto& in) {
    for (const std::string& line : from) {
      if (std::ranges::find(in, line) != in.end()) continue;
      std::printf("%s %s\n", mark, line.c_str());
      differs = true;
    }
  };
  print_missing("-", before, after);
  print_missing("+", after, before);
  return differs ? kFailed : kOk;
}

int reshard_checkpoints(const checkpoint_arguments& a, const node_ptr& plan) {
  if (!plan) throw misuse("checkpoint reshard needs the plan of the consumers; add --plan 'PLAN | shard(N, 0) | …'");
  if (a.to == 0 || a.folder.empty())
    throw misuse("checkpoint reshard needs the new number of consumers and a folder; add --to M -o DIR");
  std::vector<checkpoint> from;
  for (const std::string& path : a.files) {
    auto one = load_checkpoint(path);
    if (!one.ok()) throw_status(one.why());
    from.push_back(*std::move(one));
  }
  runtime rt({.workers = 1});
  const std::vector<checkpoint> made =
      reshard(rt, plan, from, static_cast<std::int64_t>(a.to), {.global_order = a.global_order});
  std::error_code why;
  std::filesystem::create_directories(a.folder, why);
  if (why) throw_status(errno_error(why.value(), "cannot create the folder").in_file(a.folder));
  for (std::size_t i = 0; i != made.size(); ++i) {
    const std::string path = absl::StrFormat("%s/%05d-of-%05d.ckpt", a.folder, i, made.size());
    if (status saved = save_checkpoint(path, made[i]); !saved.ok()) throw_status(saved);
    std::printf("%s: shard(%d, %d)\n", path.c_str(), static_cast<int>(made.size()), static_cast<int>(i));
  }
  return kOk;
}

}  // namespace

int checkpoint_files(const checkpoint_arguments& a) {
  const node_ptr plan = a.plan.empty() ? nullptr : plan_of(a.plan);
  if (a.action == "show") return show_checkpoint(a, plan);
  return a.action == "diff" ? diff_checkpoints(a, plan) : reshard_checkpoints(a, plan);
}

}  // namespace sluice::lib::cli
