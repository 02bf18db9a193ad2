// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/metrics.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <chrono>
#include <vector>

#include "base/seconds.hpp"
#include "base/text/redacted.hpp"
#include "pipeline/live_runs.hpp"
#include "sluice/version.hpp"

namespace sluice::lib {
namespace {

/// `type`: counter or gauge. `unit`: the end of the name, or null.
struct metric_family {
  const char* name;  ///< without _total
  const char* type;
  const char* unit;
  const char* help;
};

class metrics_writer {
 public:
  explicit metrics_writer(metrics_format f) : is_open_(f == metrics_format::openmetrics) {}

  /// The samples that follow belong to this family.
  void begin(const metric_family& f) {
    const bool counts = std::string_view(f.type) == "counter";
    sample_name_ = absl::StrCat(f.name, counts ? "_total" : "");
    const std::string family = is_open_ ? std::string(f.name) : sample_name_;  // OpenMetrics: without _total
    absl::StrAppend(&text_, "# HELP ", family, " ", f.help, "\n# TYPE ", family, " ", f.type, "\n");
    if (is_open_ && f.unit) absl::StrAppend(&text_, "# UNIT ", family, " ", f.unit, "\n");
  }
  void add(const std::string& labels, std::uint64_t value) { line(labels, absl::StrCat(value)); }
  void add(const std::string& labels, double value) { line(labels, absl::StrFormat("%.9g", value)); }
  std::string finish() { return std::move(text_) + (is_open_ ? "# EOF\n" : ""); }

 private:
  void line(const std::string& labels, const std::string& value) {
    absl::StrAppend(&text_, sample_name_, labels.empty() ? "" : absl::StrCat("{", labels, "}"), " ", value, "\n");
  }
  const bool is_open_;
  std::string sample_name_, text_;
};

/// name="value", with the escapes of the format.
std::string label(const char* name, std::string_view value) {
  std::string out = absl::StrCat(name, "=\"");
  for (char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + "\"";
}

/// A stage, with the labels that all of its samples have.
struct labeled_stage {
  const site_report* site;
  std::string labels;
  bool is_cause;
};

std::string stage_name(const std::string& name, std::uint64_t number) {
  return detail::redacted(number ? absl::StrCat(name, " #", number) : name);
}

void write_runtime(metrics_writer& w, runtime& rt, std::size_t runs) {
  const ledger_report memory = rt.ledger().report();
  w.begin({"sluice_build_info", "gauge", nullptr, "The version of the library."});
  w.add(label("version", SLUICE_VERSION_STRING), std::uint64_t{1});
  w.begin({"sluice_workers", "gauge", nullptr, "Worker threads of the runtime."});
  w.add("", std::uint64_t{rt.workers()});
  w.begin({"sluice_runs", "gauge", nullptr, "Runs that exist now."});
  w.add("", std::uint64_t{runs});
  w.begin({"sluice_memory_used_bytes", "gauge", "bytes", "Memory that the ledger counts now."});
  w.add("", std::uint64_t{memory.used_bytes});
  w.begin({"sluice_memory_peak_bytes", "gauge", "bytes", "The most memory that the ledger has counted."});
  w.add("", std::uint64_t{memory.peak_bytes});
  w.begin({"sluice_memory_budget_bytes", "gauge", "bytes", "The memory budget."});
  w.add("", std::uint64_t{memory.budget_bytes});
}

void write_consumers(metrics_writer& w, const std::vector<numbered_report>& runs) {
  auto each = [&](const metric_family& f, auto value) {
    w.begin(f);
    for (const numbered_report& r : runs) w.add(label("run", absl::StrCat(r.number)), value(r.report));
  };
  each({"sluice_run_consumer_requests", "counter", nullptr, "Requests of the consumer; estimated if they are fast."},
       [](const run_report& r) { return r.consumer.requests; });
  each({"sluice_run_consumer_waits", "counter", nullptr, "Requests for which the consumer waited at least 50 us."},
       [](const run_report& r) { return r.consumer.waits; });
  each({"sluice_run_consumer_wait_seconds", "counter", "seconds", "The time of these waits."},
       [](const run_report& r) { return seconds_of(r.consumer.waited); });
  each({"sluice_run_consumer_wait_ratio", "gauge", "ratio", "The share of its time that the consumer has waited."},
       [](const run_report& r) { return r.verdict.wait_share; });
  each({"sluice_run_elapsed_seconds", "gauge", "seconds", "The time since the run was started."},
       [](const run_report& r) { return seconds_of(r.machine.elapsed); });
  each({"sluice_run_dropped_elements", "counter", nullptr, "Bad elements that the run has dropped."},
       [](const run_report& r) { return r.errors; });
}

std::vector<labeled_stage> stages_of(const std::vector<numbered_report>& runs) {
  std::vector<labeled_stage> stages;
  for (const numbered_report& r : runs)
    for (const site_report& s : r.report.sites)
      stages.push_back(
          {&s, absl::StrCat(label("run", absl::StrCat(r.number)), ",", label("stage", stage_name(s.name, s.number))),
           r.report.verdict.path == s.path});
  return stages;
}

void write_counts(metrics_writer& w, const std::vector<labeled_stage>& stages) {
  auto each = [&](const metric_family& f, auto value) {
    w.begin(f);
    for (const labeled_stage& s : stages) w.add(s.labels, value(*s.site));
  };
  each({"sluice_stage_elements", "counter", nullptr, "Elements that the stage has delivered."},
       [](const site_report& s) { return s.elements; });
  each({"sluice_stage_skipped_elements", "counter", nullptr, "Elements that the stage has skipped."},
       [](const site_report& s) { return s.passed; });
  each({"sluice_stage_blocks", "counter", nullptr, "Blocks that the stage has delivered."},
       [](const site_report& s) { return s.blocks; });
  each({"sluice_stage_read_bytes", "counter", "bytes", "Bytes that the stage has read from files."},
       [](const site_report& s) { return s.read_bytes; });
  // Estimates from samples may decrease, so these are no counters.
  each({"sluice_stage_output_bytes", "gauge", "bytes", "The memory of the delivered elements; estimated."},
       [](const site_report& s) { return s.bytes; });
  each({"sluice_stage_busy_seconds", "gauge", "seconds", "The stage's own computing time; estimated."},
       [](const site_report& s) { return seconds_of(s.busy); });
  each({"sluice_stage_element_seconds", "gauge", "seconds", "The mean time for one element; estimated."},
       [](const site_report& s) { return seconds_of(s.each); });
  each(
      {"sluice_stage_element_deviation_seconds", "gauge", "seconds", "The standard deviation of that time; estimated."},
      [](const site_report& s) { return seconds_of(s.each_deviation); });
  each({"sluice_stage_element_bytes", "gauge", "bytes", "The mean memory of one element; estimated."},
       [](const site_report& s) { return s.each_bytes; });
  each({"sluice_stage_element_deviation_bytes", "gauge", "bytes",
        "The standard deviation of the memory of one element; estimated."},
       [](const site_report& s) { return s.each_bytes_deviation; });
  each({"sluice_stage_in_flight_seconds", "gauge", "seconds", "The time for which its parallel tasks awaited calls."},
       [](const site_report& s) { return seconds_of(s.in_flight); });
  each({"sluice_stage_reads", "counter", nullptr, "Reads of files that had to wait."},
       [](const site_report& s) { return s.reads; });
  each({"sluice_stage_read_wait_seconds", "counter", "seconds",
        "The sum of the times of these reads; its rate is the number of reads in flight."},
       [](const site_report& s) { return seconds_of(s.reads_took); });
  each({"sluice_stage_first_bytes", "counter", nullptr, "Files whose first byte was waited for."},
       [](const site_report& s) { return s.first_bytes; });
  each({"sluice_stage_first_byte_seconds", "counter", "seconds", "The sum of the times from their open to that byte."},
       [](const site_report& s) { return seconds_of(s.first_byte_took); });
  each({"sluice_stage_requests", "counter", nullptr, "Requests to servers that have begun to answer."},
       [](const site_report& s) { return s.requests; });
  each({"sluice_stage_request_first_byte_seconds", "counter", "seconds",
        "The sum of the times from these requests to the first bytes of their answers."},
       [](const site_report& s) { return seconds_of(s.answered_after); });
  each({"sluice_stage_memory_used_bytes", "gauge", "bytes", "Memory that the stage has charged now."},
       [](const site_report& s) {
         std::uint64_t sum = 0;
         for (const ledger_line_report& l : s.memory) sum += l.used_bytes;
         return sum;
       });
  w.begin({"sluice_stage_is_cause", "gauge", nullptr, "1 if the stage limits the run, otherwise 0."});
  for (const labeled_stage& s : stages) w.add(s.labels, std::uint64_t{s.is_cause});
}

void write_time(metrics_writer& w, const std::vector<labeled_stage>& stages) {
  static constexpr const char* kReasons[kWaitReasons] = {"input",     "calls", "disk",  "network", "pace",
                                                         "call_pool", "room",  "limit", "memory"};
  w.begin({"sluice_stage_time_ratio", "gauge", "ratio",
           "Shares of the time: busy, waiting for input, blocked by the consumer; their sum is 1."});
  for (const labeled_stage& s : stages) {
    w.add(s.labels + "," + label("state", "busy"), s.site->busy_share);
    w.add(s.labels + "," + label("state", "input"), s.site->input_share);
    w.add(s.labels + "," + label("state", "blocked"), s.site->blocked_share);
  }
  w.begin({"sluice_stage_waits", "counter", nullptr, "Waits of the stage and of its task ahead."});
  for (const labeled_stage& s : stages)
    for (std::size_t i = 0; i != kWaitReasons; ++i)
      w.add(s.labels + "," + label("reason", kReasons[i]), s.site->waits_by_reason[i].times);
  w.begin({"sluice_stage_wait_seconds", "counter", "seconds", "The time of these waits."});
  for (const labeled_stage& s : stages)
    for (std::size_t i = 0; i != kWaitReasons; ++i)
      w.add(s.labels + "," + label("reason", kReasons[i]), seconds_of(s.site->waits_by_reason[i].took));
}

/// `bytes_max`: "+Inf" for the class without a limit.
std::string size_label(const size_class_report& c) {
  return label("bytes_max", c.bytes_max ? absl::StrCat(c.bytes_max) : std::string("+Inf"));
}

void write_sizes(metrics_writer& w, const std::vector<labeled_stage>& stages) {
  auto each = [&](const metric_family& f, auto value) {
    w.begin(f);
    for (const labeled_stage& s : stages)
      for (const size_class_report& c : s.site->by_size) w.add(s.labels + "," + size_label(c), value(c));
  };
  each({"sluice_stage_timed_elements", "gauge", nullptr,
        "Elements by the memory of each; as far as they were timed, estimated."},
       [](const size_class_report& c) { return c.elements; });
  each({"sluice_stage_timed_seconds", "gauge", "seconds", "The time for these elements; estimated."},
       [](const size_class_report& c) { return seconds_of(c.took); });
}

void write_channels(metrics_writer& w, const std::vector<labeled_stage>& stages) {
  auto each = [&](const metric_family& f, auto value) {
    w.begin(f);
    for (const labeled_stage& s : stages)
      for (const channel_report& c : s.site->channels)
        w.add(s.labels + "," + label("channel", detail::redacted(c.name)), value(c));
  };
  each({"sluice_channel_blocks", "gauge", nullptr, "Blocks in the channels of the stage."},
       [](const channel_report& c) { return c.blocks; });
  each({"sluice_channel_blocks_max", "gauge", nullptr, "The most blocks that may be in them."},
       [](const channel_report& c) { return c.blocks_max; });
  each({"sluice_channel_elements", "gauge", nullptr, "Elements in the channels of the stage."},
       [](const channel_report& c) { return c.elements; });
  each({"sluice_channel_used_bytes", "gauge", "bytes", "Memory that is charged for these blocks."},
       [](const channel_report& c) { return std::uint64_t{c.bytes}; });
  w.begin({"sluice_stage_knob", "gauge", nullptr, "The values of the stage's knobs."});
  for (const labeled_stage& s : stages)
    for (const knob_report& k : s.site->knobs)
      w.add(s.labels + "," + label("knob", k.name), static_cast<double>(k.value));
}

}  // namespace

metrics_format metrics_format_for(std::string_view accept) {
  return accept.find("application/openmetrics-text") == accept.npos ? metrics_format::prometheus
                                                                    : metrics_format::openmetrics;
}

std::string_view metrics_type(metrics_format f) {
  return f == metrics_format::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                          : "text/plain; version=0.0.4; charset=utf-8";
}

std::string metrics_text(runtime& rt, metrics_format f) {
  const std::vector<numbered_report> runs = reports_of_live_runs(rt);
  const std::vector<labeled_stage> stages = stages_of(runs);
  metrics_writer w(f);
  write_runtime(w, rt, runs.size());
  write_consumers(w, runs);
  write_counts(w, stages);
  write_time(w, stages);
  write_sizes(w, stages);
  write_channels(w, stages);
  return w.finish();
}

}  // namespace sluice::lib
