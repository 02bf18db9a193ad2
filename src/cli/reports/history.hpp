// SPDX-License-Identifier: Apache-2.0
// Numbers of a run over time, for the pictures of its page: at most some hundred points, however long the run.
//
// After kPointsMax points every second one is dropped, and the interval between two points doubles.
// Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/mutex.hpp"
#include "sluice/runtime/site_table.hpp"

#include <nlohmann/json_fwd.hpp>

namespace sluice::lib::cli {

class run_history {
 public:
  static constexpr std::size_t kPointsMax = 600;

  /// Adds a point, unless the last one is too near.
  void add(double seconds, std::uint64_t elements, std::uint64_t bytes, std::size_t memory_bytes,
           const std::vector<site_report>& sites);
  /// `history` of docs/report.md.
  nlohmann::ordered_json json() const;

 private:
  struct point {
    double seconds = 0;
    std::uint64_t elements = 0, bytes = 0;
    std::size_t memory_bytes = 0;
    std::vector<channel_report> channels;  ///< in the order of channels_; the last ones may be missing
  };
  struct channel_name {
    std::uint64_t path;
    std::string stage, name;
  };
  std::size_t number_of(const site_report& s, const channel_report& c) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable lib::mutex mutex_;
  double interval_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<point> points_ ABSL_GUARDED_BY(mutex_);
  std::vector<channel_name> channels_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib::cli
