// SPDX-License-Identifier: Apache-2.0
// Starts runs: iterate() lowers a plan to a tree of streams and returns its root, from which the elements are
//   requested.
//
//   runtime rt;
//   auto s = ds.iterate(rt);                                        // opens no file and computes nothing yet
//   while (auto x = co_await s.next()) use(*x);
//   checkpoint here = s.position();                                 // at any element
//   auto t = ds.iterate(rt, {.from = here});                        // continues with the next element
//   co_await cleanup(std::move(s));                                 // stops the run, and waits for its tasks
//
// The destructor of the stream stops the run, too, but does not wait: the runtime joins the run's tasks.
// Errors: from a checkpoint: data_loss (damaged), failed_precondition (made by another plan, by another version of one
//         of its functions, with other captured values or other elements in memory; or by a run that drops bad elements
//         when this one would stop at them, or in another epoch than the requested one). While it runs:
//         failed_precondition for an input that has changed since the checkpoint, unless on_changed_inputs allows it.
//         position() throws failed_precondition once the run reads standard input or a FIFO, which cannot be read
//         again.
// Counts: under error_policy::skip a bad element is counted at its place in the stream:
//         1. When a run has delivered n elements, its report has counted exactly the bad elements before the n-th. A
//            bad element that was computed ahead of the consumer counts when the consumer reaches it. Therefore
//            elements, counts and the error of a limit are the same on any number of workers, with any parallelism and
//            prefetch, and for any sizes of requests, if the plan's order is deterministic. A sloppy stage counts in
//            the order in which it delivers elements.
//         2. The first bad element beyond errors_max ends the stream: the elements before it are delivered, then its
//            error, whose message names the limit. It is not dropped, and not counted. The errors_max of a stage, or of
//            an ignore_errors, limits the count of that stage in the same way. A stage of an inner plan has one count
//            for all elements that the plan is opened for.
//         3. A stage that works ahead drops at most 1,000 consecutive elements with statuses of their own. Later ones
//            are counted, and reported with the status of the last of these.
//         4. A resumed run counts from 0. It counts bad elements again that it makes again before the position of its
//            checkpoint (coro/stream_base.hpp, Marks); their number depends on timing.
// Warns:  once per run, in its report and by runtime_options::on_warning, when it makes or uses a checkpoint that
//         cannot detect changes of some functions or data of the plan (plan/identity.hpp).
// Thread: iterate() on any thread; a stream has one consumer at a time.
// Owns:   a stream shares the ownership of its plan, with the user's functions in it, and of its run.
#pragma once

#include <optional>

#include "sluice/coro/any_stream.hpp"
#include "sluice/coro/stream.hpp"
#include "sluice/engine/dataset_options.hpp"
#include "sluice/optimizer/rule_choice.hpp"
#include "sluice/pipeline/order_fingerprint.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/profile/verdict.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/site_table.hpp"
#include "sluice/tuner/tuning.hpp"

namespace sluice::lib {

struct iterate_options {
  checkpoint from = {};  ///< empty: from the start
  /// The policy of stages for which the plan sets none (plan/on_error.hpp, op/ignore_errors.hpp). A checkpoint of a run
  /// with stop may be resumed with skip, but not the reverse.
  error_policy on_error = error_policy::stop;
  /// The limit for all stages together; one more bad element ends the stream (see Counts).
  std::uint64_t errors_max = ~std::uint64_t{0};
  /// The file for dropped bad elements of stages for which the plan names no file (docs/errors.md, Quarantine).
  lib::quarantine quarantine = {};
  /// For stages without a seed of their own. nullopt: runtime_options::seed, or a drawn one if that is 0. A resumed run
  /// always uses the seed of its checkpoint.
  std::optional<std::uint64_t> seed = {};
  /// The number of the epoch, for a program that iterates a plan once per epoch by hand: shuffles draw as in epoch
  /// number `epoch` of a repeat() at the end of the plan. nullopt: that of the checkpoint, or 0.
  std::optional<std::uint64_t> epoch = {};
  /// For a resumed run: the reaction to a changed input. It compares the files that were open at the checkpoint and the
  /// last 1,000 closed ones, by the properties that `identity` names, and the names that patterns matched.
  changed_inputs on_changed_inputs = changed_inputs::refuse;
  /// The properties of files that checkpoints of this run contain, and that it compares with those of `from`
  /// (runtime/input_rules.hpp, docs/resuming.md).
  file_identity identity = file_identity::automatic;
  /// Other properties for the files whose paths begin with a prefix; the longest one wins.
  prefix_identities identities = {};
  /// For a resumed run whose files have moved, so that its plan names other paths: {{"/mnt/old", "/mnt/new"}}. Errors:
  /// invalid_argument if a folder has no name.
  path_rebases rebase = {};
  /// The rules that may rewrite the plan before it runs (docs/optimizer.md). They change neither the elements nor the
  /// checkpoints, so a resumed run may have other ones.
  rule_choice rules = {};
  /// on: rules need not keep a check of values that nothing reads: a reader that builds some of its columns does not look
  /// at the fields of the others (docs/optimizer.md, prune_columns), so their errors may not be reported.
  run_switch trust = {};
  /// The order of the stages that do not set it themselves, as with_options at the end of the plan gives it. A run with
  /// an order resumes from checkpoints of runs with the same order only.
  std::optional<sluice::lib::order> order = {};
  /// The workers of this run, made by runtime::add_pool(). Null: the runtime's own, shared with its other runs.
  scheduler* pool = nullptr;
  /// The number of workers on which coroutines of this run work at a time; 0: what with_options says, else all. Blocking
  /// calls and reads that wait do not count.
  unsigned cpu_budget = 0;
  /// on: the channels of the plan (prefetch, parallel stages) fill as soon as the run starts, and not at the first request.
  run_switch warm_start = {};
  /// off: the stages of the run neither count nor time their elements, so the report has no numbers of them.
  run_switch statistics = {};
  /// on: the run measures its stages and sets the knobs that the plan leaves to it (docs/tuning.md). A number in the plan
  /// is then the most that the knob is set to. Elements, order, errors and positions stay the same. Requires statistics.
  run_switch tune = {};
  /// The shortest time between two looks of the tuner at the counters; 0: 5 ms.
  duration tune_every{};
  /// The reaction to checkpoints that cannot compare some functions or data of the plan. Not given: as with_options says, else
  /// a warning.
  external_state_setting external_state = {};
  /// on: the run counts its order fingerprint (pipeline/order_fingerprint.hpp), in reports and checkpoints. Not given: on if
  /// the checkpoint that it continues from has one. Errors: invalid_argument if the elements' contents are not known.
  run_switch order_fingerprint = {};
};

/// A summary of a run, at its end or during it.
struct run_report {
  std::uint64_t seed = 0;                     ///< for stages without a seed of their own
  std::uint64_t epoch = 0;                    ///< of iterate_options or of the checkpoint
  std::uint64_t errors = 0;                   ///< bad elements dropped (see Counts)
  std::vector<status> first_errors;           ///< the statuses of the first 16 of them
  std::vector<stage_errors> errors_by_stage;  ///< for the stages that have dropped elements, or have a limit
  std::uint64_t inputs_changed = 0;           ///< under changed_inputs::warn: inputs that differ from the checkpoint's
  std::vector<status> first_changed_inputs;   ///< the statuses of the first 16 of them
  std::vector<std::string> warnings;          ///< about parts of the plan that checkpoints cannot compare, and indexes
                                              ///< of files that are not used
  /// Its stages, each before its inputs, including those of inner plans that have been opened. Counters of stages that
  /// are running may lag behind a little.
  std::vector<site_report> sites;
  consumer_report consumer;  ///< how long the consumer has waited, and when
  machine_use machine;       ///< the cores of the run, and the time that they have worked
  /// The cause that limits the run: `verdict.text` is its first line. Missing measurements make it `unmeasured`.
  run_verdict verdict;
  /// The values that the tuner has chosen for knobs, if the run has one.
  tuning_report tuning;
  /// Covers the elements that the consumer has received. A report during a request has none.
  order_fingerprint order;
};

/// Starts a run of a plan whose element type may be unknown in C++, as the command line does. Errors: those of
/// iterate(); invalid_argument for a null plan.
any_stream open_run(runtime& rt, const node_ptr& plan, const iterate_options& o = {});
/// Starts a run of `rewritten`, a rewritten form of the plan `written` whose nodes have kept their sites
/// (plan/node.hpp). Its checkpoints are those of `written`, so that they fit every other rewritten form of it.
erased_stream open_rewritten_run(runtime& rt, const node_ptr& written, const node_ptr& rewritten,
                                 const iterate_options& o = {});

/// The report of the run whose root is `s`, as s.report(). REQUIRES: no request on the stream is outstanding.
run_report report_of(const stream_base& s);
/// The same during a request: the numbers lag behind by up to half a millisecond or 64 blocks. Thread: any.
run_report report_during(const run_base& run);

/// The stages of that run, with their counters and their knobs, which may be set from any thread. Errors: throws
/// failed_precondition if the stream is not the root of a run, or is lent to an asio operation that is outstanding.
std::shared_ptr<site_table> sites_of(const stream_base& s);

/// Stops the run and destroys its tree of streams; completes when no task of the run is alive.
task<void> cleanup(stream_base&& s);

// The same functions for the streams that users hold.
run_report report_of(const any_stream& s);
std::shared_ptr<site_table> sites_of(const any_stream& s);
task<void> cleanup(any_stream&& s);
template <class T> run_report report_of(const stream<T>& s) { return report_of(detail::engine_access::of(s)); }
template <class T> run_report stream<T>::report() const { return report_of(*this); }
template <class T> std::shared_ptr<site_table> sites_of(const stream<T>& s) {
  return sites_of(detail::engine_access::of(s));
}
template <class T> task<void> cleanup(stream<T>&& s) { return cleanup(std::move(detail::engine_access::of(s))); }

template <class T> stream<T> dataset<T>::iterate(runtime& rt) const {
  return stream<T>(detail::engine_access::release(open_run(rt, plan())));
}
template <class T> stream<T> dataset<T>::iterate(runtime& rt, const iterate_options& o) const {
  return stream<T>(detail::engine_access::release(open_run(rt, plan(), o)));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::cleanup;
using lib::iterate_options;
using lib::open_run;
using lib::report_during;
using lib::report_of;
using lib::run_report;
using lib::sites_of;

}  // namespace sluice
