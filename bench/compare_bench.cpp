// SPDX-License-Identifier: Apache-2.0
// The main job beside tf.data: bench/compare/run.py does it, its rows become ours.
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/harness.hpp"

namespace sluice::lib::bench {
namespace {

bool have_sample() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("data", none))
    if (entry.path().filename().string().starts_with("sample-")) return true;
  return false;
}

void main_job(report& r) {
  if (!have_sample())
    return r.skipped("main job beside tf.data", "no data/sample-*.tfrecord here; `./dev run` writes them");
  auto rows = std::filesystem::temp_directory_path() / ("sluice_compare_" + std::to_string(getpid()) + ".json");
  std::filesystem::remove(rows);
  std::fflush(stdout);
  // The script prints its own rows, and says so when TensorFlow is not there. Four shards, half a million records: the
  // usual form takes half a minute for them, and this is done eight times.
  int how = std::system(("bench/compare/run.py --files 'data/sample-0000[0-3]*' --json " + rows.string()).c_str());
  std::ifstream in(rows);
  if (!in) {
    if (how != 0) throw std::runtime_error("bench/compare/run.py failed");
    return;
  }
  for (const auto& row : nlohmann::ordered_json::parse(in)) r.foreign(row.dump(), row.at("ok").get<bool>());
  std::filesystem::remove(rows);
}
SLUICE_BENCH(main_job);

}  // namespace
}  // namespace sluice::lib::bench
