// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/run_context.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/error_account.hpp"
#include "runtime/known_files.hpp"
#include "runtime/quarantine_sink.hpp"
#include "runtime/seen_inputs.hpp"
#include "sluice/runtime/reaper.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

namespace {

/// `why` of the first bad element that was too many, with the limit that it exceeds and how to raise it. `full`: the
/// account whose limit that is; null: the run's, `of_run`.
status beyond_limit(const status& why, const error_account* full, std::uint64_t of_run) {
  std::string limit = absl::StrCat("; one more than errors_max=", full ? full->errors_max : of_run, " of ");
  if (!full) limit += "the run, which --errors-max raises, in C++ iterate_options::errors_max";
  else if (full->stage == "ignore_errors" || full->stage == "with_options")
    absl::StrAppend(&limit, std::string(full->stage), ", which ", std::string(full->stage),
                    "(errors_max=…) in the plan raises");
  else absl::StrAppend(&limit, std::string(full->stage), ", which on_error=skip, errors_max=… in the plan raises");
  const provenance& at = why.where();
  status told(why.code(), absl::StrCat(std::string(why.message()), limit));
  return told.in_file(at.file, at.offset_bytes, at.record_index).in_stage(at.stage, at.element).with_cause(why.cause());
}

}  // namespace

run_context::run_context(runtime& home, run_options options)
    : rt(&home),
      ledger(home.shared_ledger()),
      on_error(options.on_error),
      errors_max(options.errors_max),
      seed(options.seed.value_or(home.options().seed)),
      on_changed_inputs(options.on_changed_inputs),
      inputs(std::make_shared<seen_inputs>()),
      known(std::make_shared<known_files>(ledger)),
      sites(std::make_shared<site_table>()),
      quarantine(std::move(options.quarantine)),
      quarantines(std::make_shared<quarantine_table>()),
      reaper_(&home.reaper()) {
  exec = &home.exec();
  time = &home.time();
  stop = stop_source_.get_token();
  environment::run = this;
  environment::error_count = this;
}

void run_context::request_stop() noexcept {
  stopping.store(true, std::memory_order_relaxed);
  tick.fetch_add(1, std::memory_order_release);  // a stage that sees the new tick sees `stopping`
  stop_source_.request_stop();
}

status run_context::met(dropped_error e) {
  std::lock_guard lock(mutex_);
  std::uint64_t counted = errors_.load(std::memory_order_relaxed);  // written here only
  std::uint64_t dropped = std::min({e.times, errors_max - counted, errors_left(e.account)});
  errors_.store(counted + dropped, std::memory_order_relaxed);
  count_errors(e.account, dropped);
  if (dropped != 0 && first_errors_.size() < kErrorsKept) first_errors_.push_back(e.why);
  if (dropped == e.times || (dropped != 0 && e.into)) {
    status why = e.into ? e.into->keep(e) : status();
    if (!why.ok()) return why;
  }
  if (dropped == e.times) return {};
  return beyond_limit(e.why, counted + dropped == errors_max ? nullptr : full_account(e.account), errors_max);
}

std::vector<stage_errors> run_context::errors_by_stage() const {
  std::lock_guard lock(mutex_);
  return sites->errors();
}

std::size_t run_context::errors_kept_apart() const {
  const bool all_are_wanted = errors_max != ~std::uint64_t{0} || sites->has_error_limits() || !quarantines->empty();
  return all_are_wanted ? dropped_errors::kKeptApart : kErrorsKept;
}

std::vector<status> run_context::first_errors() const {
  std::lock_guard lock(mutex_);
  return first_errors_;
}

status run_context::settle_changed_input(const status& why) {
  if (why.ok() || on_changed_inputs == changed_inputs::ignore) return {};
  if (on_changed_inputs == changed_inputs::refuse) return why;
  std::lock_guard lock(mutex_);
  if (inputs_changed_.fetch_add(1, std::memory_order_relaxed) < kErrorsKept) first_changed_inputs_.push_back(why);
  return {};
}

std::vector<status> run_context::first_changed_inputs() const {
  std::lock_guard lock(mutex_);
  return first_changed_inputs_;
}

void run_context::task_started() noexcept {
  live_.fetch_add(1, std::memory_order_relaxed);  // whoever starts a task is known to the waiters itself
  reaper_->enter();
}

void run_context::task_ended() noexcept {
  reaper* r = reaper_;
  // acq_rel: whoever is told that the run is idle sees what its tasks did.
  if (live_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    std::vector<idle_call> calls;
    {
      std::lock_guard lock(mutex_);
      if (live_.load(std::memory_order_acquire) == 0) calls.swap(idle_calls_);
    }
    for (auto& c : calls) c.done(c.argument);
  }
  r->leave();
}

void run_context::when_idle(void (*done)(void*) noexcept, void* argument) noexcept {
  {
    std::lock_guard lock(mutex_);
    if (live_.load(std::memory_order_acquire) > 0) {
      idle_calls_.push_back({done, argument});
      return;
    }
  }
  done(argument);
}

}  // namespace sluice::lib
