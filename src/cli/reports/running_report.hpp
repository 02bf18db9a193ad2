// SPDX-License-Identifier: Apache-2.0
// The report of a run that has not ended: printed at intervals, as points of a history, and for whoever asks.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "cli/reports/run_record.hpp"
#include "pipeline/pull.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

class progress;

/// Adds what is known of the run now.
void fill_record(run_record& record, const pull_counts& counts, runtime& rt, const run_report& report);

/// REQUIRES: the arguments of the constructor outlive it. Thread: any.
class running_report {
 public:
  /// Adds the first point to the history of `record`, if that has one.
  running_report(const report_arguments& a, const pull_counts& counts, runtime& rt, const run_record& record,
                 std::shared_ptr<run_base> run);
  running_report(const running_report&) = delete;
  ~running_report();

  /// Called several times a second: adds a point to the history, and prints the report if it is due.
  void tick(progress& shown);
  /// The object of docs/report.md in one line.
  std::string json(bool with_history) const;

 private:
  bool is_due();
  double seconds() const;
  void add_point();
  run_record now() const;

  const report_arguments& arguments_;
  const pull_counts& counts_;
  runtime& rt_;
  const run_record& record_;
  const std::shared_ptr<run_base> run_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  std::chrono::steady_clock::time_point last_ = began_;
};

}  // namespace sluice::lib::cli
