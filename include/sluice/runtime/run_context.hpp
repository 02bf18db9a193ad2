// SPDX-License-Identifier: Apache-2.0
// One run of one pipeline: its stop, its share of the runtime, its tasks and its errors.
//
//   std::shared_ptr<run_context> run = rt.new_run({.on_error = error_policy::skip});
//   run->request_stop();                                // everything that waits in this run fails with `cancelled`
//
// Thread: any, but the settings, which are fixed before the first task starts.
// Owns: nothing of the runtime but its ledger. The runtime's destructor stops the run's tasks and waits for them; a stream
// that is still held then gives nothing any more, and may be dropped later.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/error_policy.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/dropped_errors.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class runtime;
class memory_ledger;
class reaper;
class known_files;
class seen_inputs;
class site_table;

/// What a resumed run does about an input file that is not what the checkpoint was made with (another size, time of
/// modification or inode; another list of files): end with failed_precondition, count it and go on, or go on.
enum class changed_inputs : std::uint8_t { refuse, warn, ignore };

/// The bad elements that a run has passed over at one of its stages.
struct stage_errors {
  std::string stage;         ///< "map(parse)"
  std::uint64_t errors = 0;  ///< those that the stage itself has met
  /// With those of the stages that it decides for, an ignore_errors for the stages upstream of it: what errors_max limits.
  std::uint64_t errors_in_all = 0;
  std::uint64_t errors_max = ~std::uint64_t{0};
};

struct run_options {
  error_policy on_error = error_policy::stop;    ///< of stages for which the plan does not say it
  std::uint64_t errors_max = ~std::uint64_t{0};  ///< passed over in the whole run: one more ends the stream after all
  std::optional<std::uint64_t> seed = {};        ///< not given: the runtime's
  changed_inputs on_changed_inputs = changed_inputs::refuse;
};

struct run_context final : environment, error_sink, std::enable_shared_from_this<run_context> {
  run_context(runtime& home, run_options options);
  run_context(const run_context&) = delete;
  run_context& operator=(const run_context&) = delete;

  runtime* rt;
  std::shared_ptr<memory_ledger> ledger;  ///< shared: a stream may be dropped after its runtime
  error_policy on_error;
  std::uint64_t errors_max;
  std::uint64_t seed;
  changed_inputs on_changed_inputs;
  std::shared_ptr<seen_inputs> inputs;  ///< what this run has read so far; part of its checkpoints
  std::shared_ptr<known_files> known;   ///< what its listings said of files that it has not opened yet
  std::shared_ptr<site_table> sites;    ///< its stages: what is known of them, and the limits that may be changed

  /// Ends every wait in this run with `cancelled`, and tells every stage at its next block. Thread: any; idempotent.
  void request_stop() noexcept;

  /// Bad elements were passed over in front of what the root of the run hands over next (coro/dropped_errors.hpp). Counts
  /// them for the run and for the stage that met them, one more than errors_max at most; if they are that many for either,
  /// returns the error that the stream ends with.
  status met(dropped_error e) override;
  std::uint64_t errors() const noexcept { return errors_.load(std::memory_order_relaxed); }
  /// The first kErrorsKept of them.
  std::vector<status> first_errors() const;
  /// Those of each stage that has met some or has a limit, in the order in which the stages were opened: each before its inputs.
  std::vector<stage_errors> errors_by_stage() const;
  static constexpr std::size_t kErrorsKept = 16;
  /// Of how many errors in a row, on their way here, it must be known what each says: of those that the report keeps; of
  /// more where there is a limit, since any of them may be the one that the stream ends with.
  std::size_t errors_kept_apart() const;

  /// An input is not what the checkpoint was made with (not ok). Ok: go on, under warn or ignore. Ok stays ok.
  status settle_changed_input(const status& why);
  /// Those passed over under warn, and the first kErrorsKept of them.
  std::uint64_t inputs_changed() const noexcept { return inputs_changed_.load(std::memory_order_relaxed); }
  std::vector<status> first_changed_inputs() const;

  /// Tasks that work for this run, pumps for example. The runtime's end, and whoever asks when_idle, wait for them.
  void task_started() noexcept;
  void task_ended() noexcept;
  std::size_t live_tasks() const noexcept { return live_.load(std::memory_order_acquire); }
  /// Calls `done(argument)` once, when no task is live: here and now if none is, else on the thread of the last.
  void when_idle(void (*done)(void*) noexcept, void* argument) noexcept;

 private:
  struct idle_call {
    void (*done)(void*) noexcept;
    void* argument;
  };

  reaper* reaper_;
  std::stop_source stop_source_;
  std::atomic<std::uint64_t> errors_{0};
  std::atomic<std::uint64_t> inputs_changed_{0};
  std::atomic<std::size_t> live_{0};
  mutable std::mutex mutex_;
  std::vector<status> first_errors_;          ///< guarded by mutex_
  std::vector<status> first_changed_inputs_;  ///< guarded by mutex_
  std::vector<idle_call> idle_calls_;         ///< guarded by mutex_
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::changed_inputs;
using lib::run_context;
using lib::run_options;
using lib::stage_errors;

}  // namespace sluice
