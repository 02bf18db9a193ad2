// SPDX-License-Identifier: Apache-2.0
// The output of a run on standard error: one line that is overwritten during the run, or lines for a log, and a report at
// its end.
#pragma once

#include <chrono>
#include <string>

#include "cli/reports/report_options.hpp"
#include "pipeline/pull.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

struct run_record;

class progress {
 public:
  /// `total`: the number that is 100 %, if known.
  progress(const pull_counts& counts, runtime& rt, cardinality total, const report_arguments& a);
  /// Draws the line, or prints it if its interval has passed. Called several times a second. Thread: one caller.
  void tick();
  /// Erases the line.
  void clear();

 private:
  std::string line(double seconds);
  const pull_counts& counts_;
  runtime& rt_;
  cardinality total_;
  bool is_drawn_, is_printed_;
  const std::chrono::nanoseconds every_;
  std::chrono::steady_clock::time_point last_;
  std::uint64_t records_ = 0, bytes_ = 0;
  double records_per_second_ = 0, bytes_per_second_ = 0;
};

/// Returns "1,172 elements (1,200,000 records) in 0.52 s: 2.31 M records/s, 402 MB/s", the memory, the seed, and the
/// bad elements that were dropped.
std::string final_report(const run_record& record, runtime& rt);

}  // namespace sluice::lib::cli
