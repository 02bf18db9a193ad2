// SPDX-License-Identifier: Apache-2.0
#include "cli/reports/running_report.hpp"

#include <cstdio>

#include "cli/reports/history.hpp"
#include "cli/reports/progress.hpp"
#include "cli/reports/stage_table.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::cli {

void fill_record(run_record& record, const pull_counts& counts, runtime& rt, const run_report& report) {
  record.elements = counts.elements;
  record.records = counts.records;
  record.bytes = counts.bytes;
  record.workers = rt.workers();
  record.io = std::string(files_of(rt).description());
  record.memory = rt.ledger().report();
  record.report = report;
}

running_report::running_report(const report_arguments& a, const pull_counts& counts, runtime& rt,
                               const run_record& record, std::shared_ptr<run_base> run)
    : arguments_(a), counts_(counts), rt_(rt), record_(record), run_(std::move(run)) {
  add_point();
}

/// The last point.
running_report::~running_report() { add_point(); }

double running_report::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void running_report::add_point() {
  if (record_.history)
    record_.history->add(seconds(), counts_.elements, counts_.bytes, rt_.ledger().used_bytes(),
                         report_during(*run_).sites);
}

run_record running_report::now() const {
  run_record r;
  r.plan = record_.plan;
  r.output = record_.output;
  r.checkpoint_file = record_.checkpoint_file;
  r.resumed = record_.resumed;
  r.history = record_.history;
  r.is_running = true;
  r.seconds = seconds();
  fill_record(r, counts_, rt_, report_during(*run_));
  return r;
}

std::string running_report::json(bool with_history) const {
  return report_json(now(), "run", started_, 0, with_history);
}

bool running_report::is_due() {
  const auto t = std::chrono::steady_clock::now();
  if (arguments_.report_every.count() == 0 || arguments_.quiet || t - last_ < arguments_.report_every) return false;
  last_ = t;
  return true;
}

void running_report::tick(progress& shown) {
  shown.tick();
  add_point();
  if (!is_due()) return;
  shown.clear();
  const std::string text = arguments_.is_json ? json(false) : profile_text(*now().report);
  std::fputs((text + "\n").c_str(), stderr);
}

}  // namespace sluice::lib::cli
