// SPDX-License-Identifier: Apache-2.0
// The options about what a run prints on standard error: progress and the report at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace sluice::lib::cli {

enum class progress_form : std::uint8_t {
  automatic,  ///< a line that is overwritten, on a terminal; nothing elsewhere
  plain,      ///< a line for each interval, for logs
  none,
};

struct report_arguments {
  bool quiet = false;          ///< prints no progress, no notices, and no report as text
  bool shows_stages = false;   ///< the report as text has a table of the stages
  bool shows_profile = false;  ///< the report as text has a verdict, and a table of the stages' shares of the time
  std::chrono::nanoseconds report_every{0};  ///< the report is printed after each such interval; 0: at the end only
  progress_form progress = progress_form::automatic;
  std::chrono::nanoseconds progress_every = std::chrono::seconds(30);  ///< for progress_form::plain
  bool is_json = false;       ///< the report is a JSON object (docs/report.md) on standard error, in place of the text
  std::string json_file;      ///< the file for that object, beside the text; empty: none
  std::string serve_address;  ///< where a server shows the run; empty: nowhere
  std::string html_file;      ///< the file for the report as a page; empty: none
  bool counts_order = false;  ///< the report has the order fingerprint
  std::string trace_file;     ///< the file for a trace (sluice/profile/trace.hpp); empty: none
  std::size_t trace_events = 500'000;  ///< the most events in it
};

/// Returns the arguments with --report=full in place of a --report that no form follows.
std::vector<std::string> with_report_form(std::vector<std::string> arguments);

/// Adds --quiet, --progress, --progress-every and --report; `with_stages`: also --stages and --report-every.
void add_report_options(CLI::App& verb, report_arguments& to, bool with_stages);

}  // namespace sluice::lib::cli
