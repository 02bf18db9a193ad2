// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/run_context.hpp"

#include <algorithm>
#include <atomic>
#include <stop_token>

#include "absl/strings/str_cat.h"
#include "runtime/known_files.hpp"
#include "runtime/quarantine_sink.hpp"
#include "runtime/seen_inputs.hpp"
#include "runtime/sites/error_account.hpp"
#include "runtime/small_mutex.hpp"
#include "runtime/threads/limited_executor.hpp"
#include "sluice/runtime/reaper.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/scheduler.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

namespace {

/// Returns `why`, the error of the first bad element beyond a limit, extended by the limit and how to raise it. `full`:
/// the account that has the limit; null: the limit is that of the run, `of_run`.
status beyond_limit(const status& why, const error_account* full, std::uint64_t of_run) {
  std::string limit = absl::StrCat("; one more than errors_max=", full ? full->errors_max : of_run, " of ");
  if (!full) limit += "the run, which --errors-max raises, in C++ iterate_options::errors_max";
  else if (full->stage == "ignore_errors" || full->stage == "with_options")
    absl::StrAppend(&limit, std::string(full->stage), ", which ", std::string(full->stage),
                    "(errors_max=…) in the plan raises");
  else absl::StrAppend(&limit, std::string(full->stage), ", which on_error=skip, errors_max=… in the plan raises");
  const provenance& at = why.where();
  status limited(why.code(), absl::StrCat(std::string(why.message()), limit));
  return limited.in_file(at.file, at.offset_bytes, at.record_index)
      .in_stage(at.stage, at.element)
      .with_cause(why.cause());
}

/// Returns the number of workers on which the coroutines of a run may run at a time.
unsigned workers_of(const runtime& home, const run_options& o) {
  const unsigned all = o.pool ? o.pool->workers() : home.workers();
  return o.cpu_budget ? std::min(o.cpu_budget, all) : all;
}

}  // namespace

struct run_context::books {
  struct idle_call {
    void (*done)(void*) noexcept;
    void* argument;
  };

  explicit books(sluice::lib::reaper& r) : reaper(r) {}

  sluice::lib::reaper& reaper;
  std::stop_source stop_source;
  std::optional<limited_executor> limited;  ///< the executor of a run with a pool or a cpu_budget
  std::atomic<std::uint64_t> errors{0};
  std::atomic<std::uint64_t> inputs_changed{0};
  std::atomic<std::size_t> live{0};
  mutable small_mutex mutex;
  std::vector<status> first_errors ABSL_GUARDED_BY(mutex);
  std::vector<status> first_changed_inputs ABSL_GUARDED_BY(mutex);
  std::vector<std::string> warnings ABSL_GUARDED_BY(mutex);
  std::vector<idle_call> idle_calls ABSL_GUARDED_BY(mutex);
};

run_context::run_context(runtime& home, run_options options)
    : rt(&home),
      ledger(home.shared_ledger()),
      on_error(options.on_error),
      errors_max(options.errors_max),
      seed(options.seed.value_or(home.options().seed)),
      on_changed_inputs(options.on_changed_inputs),
      inputs(std::make_shared<seen_inputs>(input_rules{options.identity, options.identities, options.rebase,
                                                       options.on_changed_inputs == changed_inputs::grown})),
      known(std::make_shared<known_files>(ledger)),
      sites(std::make_shared<site_table>(ledger)),
      quarantine(std::move(options.quarantine)),
      quarantines(std::make_shared<quarantine_table>()),
      workers(workers_of(home, options)),
      has_statistics(options.has_statistics),
      external_state(options.external_state),
      books_(new books(home.reaper())) {
  exec = &home.exec();
  if (options.pool || workers < home.workers())
    exec = &books_->limited.emplace(options.pool ? *options.pool : home.exec(), workers);
  time = &home.time();
  stop = books_->stop_source.get_token();
  environment::run = this;
  environment::error_count = this;
}

run_context::~run_context() { delete books_; }

std::uint64_t run_context::errors() const noexcept { return books_->errors.load(std::memory_order_relaxed); }
std::uint64_t run_context::inputs_changed() const noexcept {
  return books_->inputs_changed.load(std::memory_order_relaxed);
}
std::size_t run_context::live_tasks() const noexcept { return books_->live.load(std::memory_order_acquire); }

void run_context::request_stop() noexcept {
  stopping.store(true, std::memory_order_relaxed);
  tick.fetch_add(1, std::memory_order_release);  // a stage that sees the new tick sees `stopping`
  books_->stop_source.request_stop();
}

status run_context::met(dropped_error e) {
  small_lock lock(books_->mutex);
  std::uint64_t counted = books_->errors.load(std::memory_order_relaxed);  // only this function writes it
  std::uint64_t dropped = std::min({e.times, errors_max - counted, errors_left(e.account)});
  books_->errors.store(counted + dropped, std::memory_order_relaxed);
  count_errors(e.account, dropped);
  if (dropped != 0 && books_->first_errors.size() < kErrorsKept) books_->first_errors.push_back(e.placed());
  if (dropped == e.times || (dropped != 0 && e.into)) {
    status why = e.into ? e.into->keep(e) : status();
    if (!why.ok()) return why;
  }
  if (dropped == e.times) return {};
  return beyond_limit(e.placed(), counted + dropped == errors_max ? nullptr : full_account(e.account), errors_max);
}

std::vector<stage_errors> run_context::errors_by_stage() const {
  small_lock lock(books_->mutex);
  return sites->errors();
}

std::size_t run_context::errors_kept_apart() const {
  const bool all_are_wanted =
      errors_max != ~std::uint64_t{0} || sites->has_error_limits() || !quarantines->empty() || quarantines->watch();
  return all_are_wanted ? dropped_errors::kKeptApart : kErrorsKept;
}

std::vector<status> run_context::first_errors() const {
  small_lock lock(books_->mutex);
  return books_->first_errors;
}

status run_context::settle_changed_input(const status& why) {
  if (why.ok() || on_changed_inputs == changed_inputs::ignore) return {};
  if (on_changed_inputs != changed_inputs::warn) return why;
  small_lock lock(books_->mutex);
  if (books_->inputs_changed.fetch_add(1, std::memory_order_relaxed) < kErrorsKept)
    books_->first_changed_inputs.push_back(why);
  return {};
}

std::vector<status> run_context::first_changed_inputs() const {
  small_lock lock(books_->mutex);
  return books_->first_changed_inputs;
}

void run_context::warn(std::string text) {
  {
    small_lock lock(books_->mutex);
    std::vector<std::string>& all = books_->warnings;
    if (all.size() == kErrorsKept || std::find(all.begin(), all.end(), text) != all.end()) return;
    all.push_back(text);
  }
  if (auto* report = rt->options().on_warning) report(text);
}

std::vector<std::string> run_context::warnings() const {
  small_lock lock(books_->mutex);
  return books_->warnings;
}

void run_context::task_started() noexcept {
  books_->live.fetch_add(1, std::memory_order_relaxed);  // the waiters already know the code that starts a task
  books_->reaper.enter();
}

void run_context::task_ended() noexcept {
  reaper& r = books_->reaper;
  // acq_rel: the waiter that learns that the run is idle sees what its tasks did.
  if (books_->live.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    std::vector<books::idle_call> calls;
    {
      small_lock lock(books_->mutex);
      if (books_->live.load(std::memory_order_acquire) == 0) calls.swap(books_->idle_calls);
    }
    for (auto& c : calls) c.done(c.argument);
  }
  r.leave();
}

void run_context::when_idle(void (*done)(void*) noexcept, void* argument) noexcept {
  {
    small_lock lock(books_->mutex);
    if (books_->live.load(std::memory_order_acquire) > 0) {
      books_->idle_calls.push_back({done, argument});
      return;
    }
  }
  done(argument);
}

}  // namespace sluice::lib
