// SPDX-License-Identifier: Apache-2.0
#include "tuner/tuning_task.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "runtime/run_task.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {
namespace {

/// Looks without progress after which the task of a simulation ends. Each doubles the time until the next one.
constexpr int kIdleLooks = 34;
/// The longest time between two looks of a run without progress. A simulation has no such limit.
constexpr duration kIdleMax = std::chrono::seconds(1);
/// A plan with more stages is not tuned: a look copies the counters of all, and no report of them fits on a page.
constexpr std::size_t kStagesMax = 1024;

std::uint64_t progress_of(const std::vector<site_report>& sites) {
  std::uint64_t n = 0;
  for (const site_report& s : sites) n += s.elements + s.passed + s.in_task_elements + s.reads;
  return n;
}

task<void> nap(duration time) {
  sleep_for sleeping(time);
  co_await sleeping;
}

run_task tune(std::shared_ptr<run_context>& run, std::shared_ptr<run_base> root, std::shared_ptr<tuning> shared,
              duration first) {
  std::shared_ptr<run_base> kept = std::move(root);
  std::shared_ptr<tuning> mine = std::move(shared);
  run_context& context = *run;
  for (duration wait = first; wait > duration(0);) {
    task<void> sleeping = nap(wait);
    status slept = co_await sleeping.as_result();
    if (!slept.ok()) break;
    wait = mine->look(context, *kept);
  }
}

}  // namespace

tuning::tuning(std::unique_ptr<tuning_policy> policy, std::function<duration()> computed, duration first)
    : policy_(std::move(policy)), computed_(std::move(computed)), first_(first) {}

tuning_report tuning::report() const {
  mutex_lock lock(mutex_);
  tuning_report r = policy_->report();
  if (has_too_many_stages_) r.why_none = absl::StrCat("not tuned: the plan has more than ", kStagesMax, " stages");
  return r;
}

duration tuning::look(run_context& run, const run_base& root) {
  if (run.sites->size() > kStagesMax) {
    mutex_lock lock(mutex_);
    has_too_many_stages_ = true;
    return duration(0);
  }
  observation now;
  now.at = run.time->now().time_since_epoch();
  now.sites = run.sites->report();
  now.consumer = consumer_report_of(root.consumer);
  now.computed = computed_();
  const std::uint64_t progress = progress_of(now.sites);
  idle_ = progress == std::exchange(progress_, progress) ? idle_ + 1 : 0;
  decision d;
  {
    mutex_lock lock(mutex_);
    d = policy_->look(now);
  }
  for (const knob_setting& s : d.set) (void)run.sites->set_knob(s.path, s.knob, s.value);
  if (idle_ == 0) return std::max(d.next, duration(1));
  const bool is_simulated = run.rt->world() != nullptr;
  if (is_simulated && idle_ == kIdleLooks) return duration(0);
  const duration doubled = std::max(d.next, duration(first_.count() << std::min(idle_ - 1, 33)));
  return is_simulated ? doubled : std::min(doubled, std::max(kIdleMax, d.next));
}

std::shared_ptr<tuning> start_tuning(std::shared_ptr<run_context> run, std::shared_ptr<run_base> root,
                                     std::unique_ptr<tuning_policy> policy, std::function<duration()> computed,
                                     duration first) {
  auto made = std::make_shared<tuning>(std::move(policy), std::move(computed), first);
  // A requested parallelism begins low, also for the first element.
  if (made->look(*run, *root) > duration(0)) tune(run, std::move(root), made, first);
  return made;
}

}  // namespace sluice::lib
