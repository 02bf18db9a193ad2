// SPDX-License-Identifier: Apache-2.0
// The output of a run on standard error: one line that is overwritten during the run, and a report at its end.
#pragma once

#include <chrono>
#include <string>

#include "pipeline/pull.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

class progress {
 public:
  /// `total`: the number that is 100 %, if known. `is_shown`: standard error is a terminal, and --quiet is not set.
  progress(const pull_counts& counts, runtime& rt, cardinality total, bool is_shown);
  /// Draws the line. Thread: one caller.
  void tick();
  /// Erases the line.
  void clear();

 private:
  std::string line(double seconds);
  const pull_counts& counts_;
  runtime& rt_;
  cardinality total_;
  bool is_shown_;
  std::chrono::steady_clock::time_point last_;
  std::uint64_t records_ = 0, bytes_ = 0;
  double records_per_second_ = 0, bytes_per_second_ = 0;
};

/// Returns "1,172 elements (1,200,000 records) in 0.52 s: 2.31 M records/s, 402 MB/s", the memory, the seed, and the
/// bad elements that were dropped.
std::string final_report(const pull_counts& counts, double seconds, runtime& rt, const run_report& report);

}  // namespace sluice::lib::cli
