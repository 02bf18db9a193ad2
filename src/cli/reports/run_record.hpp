// SPDX-License-Identifier: Apache-2.0
// The facts of a run that its report contains, and the report as one JSON object (docs/report.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/reports/report_options.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/runtime/ledger.hpp"

namespace sluice::lib::cli {

class run_history;  // cli/reports/history.hpp
class served_run;   // cli/page/served_run.hpp

struct run_record {
  std::string plan, output;  ///< as texts; empty until they are known. Secrets of URLs are removed when it is printed
  std::string checkpoint_file;
  std::uint64_t elements = 0, records = 0, bytes = 0;
  double seconds = 0;
  unsigned workers = 0;
  std::string io;            ///< the back end for files
  bool resumed = false;      ///< it continued from a checkpoint
  bool interrupted = false;  ///< a signal ended it
  bool is_running = false;   ///< the record is of this moment, and the run continues
  bool complete = false;     ///< the end of the plan, or the limit, was reached
  ledger_report memory{};
  std::optional<run_report> report;      ///< missing if the run did not begin
  status why;                            ///< the error that ended it
  std::shared_ptr<run_history> history;  ///< null: not recorded
  std::shared_ptr<served_run> served;    ///< null: no server shows the run
};

/// Increased when a field is removed or changes its meaning. New fields do not increase it.
inline constexpr int kReportVersion = 1;
inline constexpr std::string_view kReportBeginning = "{\"report\":\"sluice\"";

/// Returns the object in one line, without the line's end.
std::string report_json(const run_record& r, const char* verb, std::chrono::system_clock::time_point started,
                        int exit_status, bool with_history = false);

/// Calls `work`, which runs a verb and fills the record, prints the exception that it throws, and then prints or writes
/// the report as `a` requests. Returns the exit status.
int with_report(const report_arguments& a, const char* verb, const std::function<int(run_record&)>& work);

/// Returns the peak memory of this process: the bytes that the ledger counts, code and threads, and the bytes that
/// malloc has not returned.
std::size_t process_peak_bytes();

}  // namespace sluice::lib::cli
