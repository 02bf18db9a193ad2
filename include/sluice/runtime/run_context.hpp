// SPDX-License-Identifier: Apache-2.0
// The state that all stages and tasks of one run share: its stop, options, live tasks, errors and inputs seen.
//
//   std::shared_ptr<run_context> run = rt.new_run({.on_error = error_policy::skip});
//   run->request_stop();                                // every wait in this run fails with `cancelled`
//
// Thread: any, except that the options are set before the first task starts and not changed afterwards.
// Owns:   a share of the runtime's ledger, and nothing else of the runtime. The runtime's destructor stops the run and
//         waits for its tasks. A stream of the run may be destroyed after the runtime, but no element may be requested
//         from it any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/error_policy.hpp"
#include "sluice/base/field_types.hpp"
#include "sluice/base/shared_ref.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/dropped_errors.hpp"
#include "sluice/coro/environment.hpp"
#include "sluice/runtime/input_rules.hpp"

namespace sluice::lib {

class runtime;
class scheduler;
class memory_ledger;
class reaper;
class element_places;
class known_files;
class quarantine_table;
class seen_inputs;
class site_table;
class warm_channels;

/// The reaction of a resumed run to an input that has changed since the checkpoint: a file whose properties
/// (runtime/input_rules.hpp) are other ones, or a pattern that matches other names.
enum class changed_inputs : std::uint8_t {
  refuse,  ///< the stream ends with failed_precondition
  warn,    ///< the difference is counted and reported, and the run continues
  ignore,  ///< the run continues
  /// A file may have become longer since, if the bytes that it had then are unchanged as far as the checkpoint knows
  /// them: under file_identity::content by a digest of their beginning and end. Other changes are refused.
  grown,
};

/// The bad elements that a run has dropped at one of its stages.
struct stage_errors {
  std::string stage;         ///< "map(parse)"
  std::uint64_t number = 0;  ///< site_report::number, if several stages have this name
  std::uint64_t errors = 0;  ///< dropped by the stage itself
  /// For an ignore_errors: includes those dropped by the stages upstream whose policy it sets. errors_max limits this
  /// number.
  std::uint64_t errors_in_all = 0;
  std::uint64_t errors_max = ~std::uint64_t{0};
};

struct run_options {
  error_policy on_error = error_policy::stop;    ///< for stages for which the plan does not set one
  std::uint64_t errors_max = ~std::uint64_t{0};  ///< bad elements that the whole run may drop; one more ends the stream
  lib::quarantine quarantine = {};               ///< the file for dropped elements if the plan names no such file
  std::optional<std::uint64_t> seed = {};        ///< nullopt: runtime_options::seed, even if it is 0
  changed_inputs on_changed_inputs = changed_inputs::refuse;
  file_identity identity = file_identity::automatic;  ///< how files are compared with those of the checkpoint
  prefix_identities identities = {};
  path_rebases rebase = {};
  scheduler* pool = nullptr;   ///< workers of its own (runtime::add_pool); null: those of the runtime
  unsigned cpu_budget = 0;     ///< the number of workers on which its coroutines run at a time; 0: all
  bool has_statistics = true;  ///< its stages count and time their elements
  lib::external_state external_state = lib::external_state::warn;
};

struct run_context final : environment, error_sink, std::enable_shared_from_this<run_context> {
  run_context(runtime& home, run_options options);
  run_context(const run_context&) = delete;
  run_context& operator=(const run_context&) = delete;
  ~run_context();

  runtime* rt;
  std::shared_ptr<memory_ledger> ledger;  ///< shared, because a stream may be destroyed after its runtime
  error_policy on_error;
  std::uint64_t errors_max;
  std::uint64_t seed;
  changed_inputs on_changed_inputs;
  shared_ref<seen_inputs> inputs;  ///< the files and patterns that this run has opened; part of its checkpoints
  shared_ref<known_files> known;   ///< information from its listings about files that it has not opened yet
  shared_ref<site_table> sites;    ///< the counters, knobs and error accounts of its stages
  lib::quarantine quarantine;
  shared_ref<quarantine_table> quarantines;  ///< the files for bad elements, once a stage has one
  unsigned workers;                          ///< the number of workers on which its coroutines run at a time
  bool has_statistics;
  lib::external_state external_state;
  /// In a run that builds the index of a file: receives the places of its elements. Otherwise null.
  shared_ref<element_places> places;
  /// A position of this run was saved, or it began at one: another run may continue it.
  std::atomic<bool> is_saved{false};
  /// Set while a run with warm_start is opened: its channels, which start before the first request. Otherwise null.
  warm_channels* to_warm = nullptr;

  /// Ends every wait in this run with `cancelled`. Stages that do not wait notice the stop at their next block. Thread:
  /// any. May be called several times.
  void request_stop() noexcept;

  /// Called when dropped elements arrive at the root of the run (coro/dropped_errors.hpp). Counts them for the run and
  /// for the account of their stage. If this exceeds a limit, counts only up to the limit, and returns the error that
  /// the stream must end with: that of the first element beyond the limit, with the limit in its message.
  status met(dropped_error e) override;
  /// The number of bad elements dropped so far.
  std::uint64_t errors() const noexcept;
  /// The errors of the first kErrorsKept of them.
  std::vector<status> first_errors() const;
  /// The counts of each stage that has dropped an element or has a limit, in the order in which the stages were opened:
  /// each before its inputs.
  std::vector<stage_errors> errors_by_stage() const;
  static constexpr std::size_t kErrorsKept = 16;
  /// The number of consecutive errors that must keep their own status on the way to the root (dropped_errors::add): the
  /// number that the report keeps, or, with a limit, more, because the stream may end with any of them.
  std::size_t errors_kept_apart() const;

  /// Called for an input that differs from the checkpoint's (`why` is not ok). Returns ok if the run continues, under
  /// warn or ignore; otherwise `why`.
  status settle_changed_input(const status& why);
  /// The number of changed inputs under warn, and the statuses of the first kErrorsKept of them.
  std::uint64_t inputs_changed() const noexcept;
  std::vector<status> first_changed_inputs() const;

  /// Adds a warning to the report of the run, and reports it by runtime_options::on_warning. Each text once, and at most
  /// kErrorsKept of them.
  void warn(std::string text);
  std::vector<std::string> warnings() const;

  /// Call task_started() when a task that works for this run (a pump, for example) starts, and task_ended() when it has
  /// ended. The runtime's destructor and when_idle() wait for live tasks.
  void task_started() noexcept;
  void task_ended() noexcept;
  std::size_t live_tasks() const noexcept;
  /// Calls `done(argument)` once, when no task is live: within this call if none is, otherwise on the thread of the
  /// last one.
  void when_idle(void (*done)(void*) noexcept, void* argument) noexcept;

 private:
  struct books;
  books* const books_;  ///< the counters and statuses of the report, and the callers of when_idle()
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::changed_inputs;
using lib::run_context;
using lib::run_options;
using lib::stage_errors;

}  // namespace sluice
