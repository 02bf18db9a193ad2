// SPDX-License-Identifier: Apache-2.0
#include "pipeline/live_runs.hpp"

#include <algorithm>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {
namespace {

struct listed_run {
  std::uint64_t number;
  const runtime* home;
  const run_base* run;
};

struct run_list {
  lib::mutex mutex;
  std::uint64_t started ABSL_GUARDED_BY(mutex) = 0;
  std::vector<listed_run> runs ABSL_GUARDED_BY(mutex);
};

/// Never destroyed: streams may be destroyed after static objects.
run_list& all_runs() {
  static auto* one = new run_list;
  return *one;
}

}  // namespace

live_run::live_run(const runtime& home, const run_base& run) : run_(run) {
  run_list& all = all_runs();
  mutex_lock lock(all.mutex);
  all.runs.push_back({++all.started, &home, &run});
}

live_run::~live_run() {
  run_list& all = all_runs();
  mutex_lock lock(all.mutex);
  std::erase_if(all.runs, [this](const listed_run& r) { return r.run == &run_; });
}

std::vector<numbered_report> reports_of_live_runs(const runtime& home) {
  std::vector<numbered_report> reports;
  run_list& all = all_runs();
  mutex_lock lock(all.mutex);
  for (const listed_run& r : all.runs)
    if (r.home == &home) reports.push_back({r.number, report_during(*r.run)});
  return reports;
}

}  // namespace sluice::lib
