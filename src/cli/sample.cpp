// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/sample.hpp"

#include <absl/strings/str_cat.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/figures.hpp"
#include "cli/plan_argument.hpp"
#include "cli/verbs.hpp"

namespace sluice::cli {

int sample(const std::string& folder, const sample_options& options) {
  std::filesystem::create_directories(folder);
  std::atomic<std::uint32_t> next{0}, written{0};
  std::mutex mutex;
  status why;  // guarded by mutex: the first failure
  auto write_shards = [&] {
    for (std::uint32_t shard; (shard = next++) < options.shards;) {
      std::string path = folder + "/" + sample_shard_name(options, shard);
      if (is_file(path)) continue;  // a shard is complete or not there (format/sample.hpp)
      status failed = write_sample_shard(path, options, shard);
      if (failed.ok()) ++written;
      std::lock_guard lock(mutex);
      if (why.ok()) why = failed;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(write_shards);
  }
  if (!why.ok()) throw_status(why);
  std::fprintf(stderr, "%s of %s written to %s, %u were there\n", counted(written, "shard").c_str(),
               counted(options.records, "record").c_str(), folder.c_str(), options.shards - written);
  return kOk;
}

}  // namespace sluice::cli
