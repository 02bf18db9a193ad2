// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/sample_records.hpp"

#include <absl/strings/str_cat.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "cli/inputs/plan_argument.hpp"
#include "cli/reports/figures.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib::cli {
namespace {

/// Throws misuse if the folder contains shards of another sample: a pattern over the folder would match both.
void refuse_other_samples(const std::string& folder, const sample_options& options) {
  std::set<std::string> ours;
  for (std::uint32_t shard = 0; shard != options.shards; ++shard) ours.insert(sample_shard_name(options, shard));
  for (auto& entry : std::filesystem::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with("sample-") || !name.ends_with(".tfrecord")) continue;
    auto place = ours.find(name);
    auto shard = static_cast<std::uint32_t>(std::distance(ours.begin(), place));
    if (place == ours.end() || !is_sample_shard(entry.path().string(), options, shard))
      throw misuse(absl::StrCat(entry.path().string(), " is no shard of ", counted(options.records, "record"), " in ",
                                counted(options.shards, "shard"), ", seed ", options.seed,
                                ": remove the existing sample, or name another folder"));
  }
}

}  // namespace

int sample(const std::string& folder, const sample_options& options) {
  if (detail::is_remote(folder))
    throw misuse(absl::StrCat(folder, ": a sample is written to a local folder; sluice cp copies it"));
  if (is_file(folder))
    throw misuse(absl::StrCat(folder,
                              " is a file, and sample writes data into a folder; to see a file's first rows: "
                              "sluice head ",
                              folder));
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw_status(errno_error(failed.value(), "cannot create the folder").in_file(folder));
  refuse_other_samples(folder, options);
  std::atomic<std::uint32_t> next{0}, written{0};
  lib::mutex mutex;
  status why;  // the first failure; the threads write it under the mutex
  auto write_shards = [&] {
    for (std::uint32_t shard; (shard = next++) < options.shards;) {
      std::string path = folder + "/" + sample_shard_name(options, shard);
      if (is_file(path)) continue;  // checked above
      status failed = write_sample_shard(path, options, shard);
      if (failed.ok()) ++written;
      mutex_lock lock(mutex);
      if (why.ok()) why = failed;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(write_shards);
  }
  if (!why.ok()) throw_status(why);
  std::fprintf(stderr, "%s: %s in %s, seed %s: %u written, %u existed\n", folder.c_str(),
               counted(options.records, "record").c_str(), counted(options.shards, "shard").c_str(),
               absl::StrCat(options.seed).c_str(), written.load(), options.shards - written);
  return kOk;
}

}  // namespace sluice::lib::cli
