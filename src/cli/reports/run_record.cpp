// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/run_record.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <sys/resource.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/whole_file.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/file_table.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/page/page.hpp"
#include "cli/page/served_run.hpp"
#include "cli/reports/history.hpp"
#include "cli/reports/stage_json.hpp"
#include "cli/verbs.hpp"
#include "sluice/profile/trace.hpp"
#include "sluice/version.hpp"

namespace sluice::lib::cli {
namespace {

using json = nlohmann::ordered_json;

/// A text, or null if it is empty.
json text_or_null(const std::string& text) { return text.empty() ? json() : json(detail::redacted(text)); }
json number_or_null(std::uint64_t n) { return n == provenance::kUnknown ? json() : json(n); }

json json_of(const status& why) {
  const provenance& at = why.where();
  return {{"code", std::string(to_string(why.code()))},
          {"message", detail::redacted(why.message())},
          {"stage", text_or_null(at.stage)},
          {"file", text_or_null(at.file)},
          {"offset_bytes", number_or_null(at.offset_bytes)},
          {"record", number_or_null(at.record_index)},
          {"element", number_or_null(at.element)}};
}

json json_of(const std::vector<status>& all) {
  json list = json::array();
  for (const status& why : all) list.push_back(json_of(why));
  return list;
}

json json_of(const ledger_report& memory) {
  json holders = json::array();
  for (const ledger_line_report& l : memory.lines)
    holders.push_back({{"stage", text_or_null(l.stage)},
                       {"purpose", std::string(to_string(l.held_for))},
                       {"peak_bytes", l.peak_bytes}});
  return {{"budget_bytes", memory.budget_bytes},
          {"peak_bytes", memory.peak_bytes},
          {"process_peak_bytes", process_peak_bytes()},
          {"holders", std::move(holders)}};
}

json dropped_json(const run_report& report) {
  json stages = json::array();
  for (const stage_errors& s : report.errors_by_stage)
    stages.push_back({{"stage", detail::redacted(s.stage)},
                      {"number", s.number},
                      {"errors", s.errors_in_all},
                      {"errors_max", number_or_null(s.errors_max)}});
  return {{"elements", report.errors}, {"by_stage", std::move(stages)}, {"first", json_of(report.first_errors)}};
}

/// Digests are texts: readers of JSON round large numbers.
json json_of(const order_fingerprint& print) {
  if (!print.is_counted) return {};
  json milestones = json::array();
  for (std::uint64_t m : print.milestones) milestones.push_back(absl::StrFormat("%016x", m));
  const bool is_across = print.is_across_counted;
  return {{"since", print.since},
          {"across", is_across ? json(absl::StrFormat("%016x", print.across)) : json()},
          {"next_input", print.next_input},
          {"elements", print.elements},
          {"ordered", absl::StrFormat("%016x", print.ordered)},
          {"rows", print.rows},
          {"unordered", absl::StrFormat("%016x", print.unordered)},
          {"stride", print.stride},
          {"milestones", std::move(milestones)}};
}

json json_of_run(const run_record& r) {
  const run_report& report = *r.report;
  json warnings = json::array();
  for (const std::string& text : report.warnings) warnings.push_back(detail::redacted(text));
  for (const status& why : report.first_changed_inputs) warnings.push_back(detail::redacted(why.to_string()));
  json run{{"seed", absl::StrCat(report.seed)},
           {"epoch", report.epoch},
           {"workers", r.workers},
           {"io", r.io},
           {"memory", json_of(r.memory)},
           {"dropped", dropped_json(report)},
           {"warnings", std::move(warnings)},
           {"order_fingerprint", json_of(report.order)}};
  add_profile(report, run);
  return run;
}

constexpr std::string_view kTraceBeginning = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";

/// A file that is written when the run has ended. An existing file is replaced only if it begins in the same way.
class end_file {
 public:
  /// `option`: as typed, before the path. Throws misuse if the file contains something else, which would be lost.
  end_file(std::string_view option, const std::string& path, std::string_view what, std::string_view beginning) {
    if (path.empty()) return;
    std::error_code unknown;
    if (std::filesystem::is_regular_file(path, unknown) && std::filesystem::file_size(path, unknown) != 0) {
      std::string begin(beginning.size(), '\0');
      std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
      if (begin != beginning)
        throw misuse(absl::StrCat(std::string(option), path, ": the file exists and is no ", std::string(what),
                                  ": name another one"));
    }
    if (status why = file_.open(path); !why.ok()) throw_status(why);
    is_open_ = true;
  }
  bool is_open() const { return is_open_; }
  /// Prints an error. Returns the more serious one of both exit statuses.
  int write(const std::string& text, int exit_status) {
    status why = file_.replace(text);
    if (why.ok()) return exit_status;
    print_error(why);
    return more_serious(exit_status, exit_status_of(why));
  }

 private:
  replaced_file file_;
  bool is_open_ = false;
};

/// Throws misuse if two options name one file.
void check_distinct(const report_arguments& a) {
  const std::pair<const char*, std::string> files[] = {
      {"--report", a.json_file}, {"--trace", a.trace_file}, {"--html", a.html_file}};
  for (const auto& one : files)
    for (const auto& other : files)
      if (&one < &other && is_same_file(one.second, other.second))
        throw misuse(absl::StrCat(one.first, " and ", other.first, " are the same file, ", one.second));
}

/// The files that describe a run, besides its output.
struct end_files {
  explicit end_files(const report_arguments& a)
      : report("--report json:", a.json_file, "report", kReportBeginning),
        trace("--trace ", a.trace_file, "trace", kTraceBeginning),
        page("--html ", a.html_file, "page of a report", kPageBeginning) {
    if (trace.is_open()) recording.emplace(trace_options{.events_max = a.trace_events});
  }
  end_file report, trace, page;
  std::optional<trace_recording> recording;
};

}  // namespace

std::string report_json(const run_record& r, const char* verb, std::chrono::system_clock::time_point started,
                        int exit_status, bool with_history) {
  const char* outcome = r.is_running ? "running" : !r.why.ok() ? "failed" : r.interrupted ? "interrupted" : "finished";
  json out{{"report", "sluice"},
           {"version", kReportVersion},
           {"program", SLUICE_VERSION_STRING},
           {"verb", verb},
           {"started", absl::FormatTime(absl::RFC3339_sec, absl::FromChrono(started), absl::UTCTimeZone())},
           {"outcome", outcome},
           {"exit_status", r.is_running ? json() : json(exit_status)},
           {"error", r.why.ok() ? json() : json_of(r.why)},
           {"plan", text_or_null(r.plan)},
           {"output", text_or_null(r.output)},
           {"checkpoint", text_or_null(r.checkpoint_file)},
           {"resumed", r.resumed},
           {"complete", r.complete},
           {"elements", r.elements},
           {"records", r.records},
           {"bytes", r.bytes},
           {"seconds", r.seconds},
           {"run", r.report ? json_of_run(r) : json()}};
  if (with_history && r.history) out["history"] = r.history->json();
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

namespace {

/// Starts the server of the run, and prints its address.
void serve(const report_arguments& a, const char* verb, std::chrono::system_clock::time_point started,
           run_record& record) {
  run_record before;
  before.is_running = true;
  record.served = std::make_shared<served_run>(a.serve_address, report_json(before, verb, started, 0, true));
  if (a.quiet) return;
  std::fprintf(stderr, "serving %s%s\n", record.served->url().c_str(),
               record.served->is_public() ? ", to every machine that can reach this one" : "");
}

}  // namespace

int with_report(const report_arguments& a, const char* verb, const std::function<int(run_record&)>& work) {
  const auto started = std::chrono::system_clock::now();
  run_record record;
  std::optional<end_files> files;
  int exit_status = kOk;
  try {
    check_distinct(a);
    files.emplace(a);
    if (files->page.is_open() || !a.serve_address.empty()) record.history = std::make_shared<run_history>();
    if (!a.serve_address.empty()) serve(a, verb, started, record);
    exit_status = work(record);
  } catch (const std::exception&) { exit_status = report_exception(&record.why); }
  if (files && files->recording) exit_status = files->trace.write(files->recording->json(), exit_status);
  if (files && files->page.is_open()) {
    const std::string object = report_json(record, verb, started, exit_status, true);
    const std::string heading = record.report ? detail::redacted(record.report->verdict.text) : "The run has not begun";
    exit_status = files->page.write(report_page(object, heading, false), exit_status);
  }
  if (!a.is_json && !(files && files->report.is_open())) return exit_status;
  const std::string text = report_json(record, verb, started, exit_status) + "\n";
  if (!a.is_json) return files->report.write(text, exit_status);
  std::fputs(text.c_str(), stderr);
  return exit_status;
}

std::size_t process_peak_bytes() {
  rusage used{};
  return ::getrusage(RUSAGE_SELF, &used) == 0 ? static_cast<std::size_t>(used.ru_maxrss) * 1024 : 0;
}

}  // namespace sluice::lib::cli
