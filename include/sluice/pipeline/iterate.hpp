// SPDX-License-Identifier: Apache-2.0
// Starting a run: from a plan to the stream of its elements.
//
//   runtime rt;
//   auto s = ds.iterate(rt);                                        // nothing is done yet
//   while (auto x = co_await s.next()) use(*x);
//   checkpoint here = s.position();                                 // at any element
//   auto t = ds.iterate(rt, {.from = here});                        // goes on with the next one
//   co_await cleanup(std::move(s));                                 // stops, and waits until nothing of it is left
//
// A dropped stream stops its run, too, but does not wait: what is still in the air is joined by the runtime.
// Errors: from a checkpoint: data_loss (damaged), failed_precondition (made by another plan, by another version of one of
//         its functions, with other captured values or other elements in memory; or by a run that passes over bad elements
//         when this one would stop at them, or in another epoch than the one asked for). While it runs:
//         failed_precondition for an input that is not what the checkpoint was made with, unless on_changed_inputs says
//         otherwise. position() throws failed_precondition once the run reads standard input or a FIFO, which nobody can
//         read again.
// Counts: under error_policy::skip a bad element counts where it stands among the elements. When a run has given n elements,
//         its report has counted the bad ones in front of the n-th and no others. The first one beyond errors_max ends the
//         stream: what comes before it is given, then its error. For plans whose order is deterministic, elements, counts
//         and that error are therefore the same on any number of workers, with any parallelism and prefetch, and however
//         the consumer asks; what was worked on ahead and never given does not count. A sloppy stage counts what it drops in
//         the order in which it gives elements. Where more than 1,000 bad elements follow each other behind a stage that
//         works ahead, those behind the first 1,000 count, and are told by the words of the last one of these.
//         A stage's own errors_max, and an ignore_errors', are counted at the same places, for that stage alone: the first
//         error that is one too many for the stage or for the run ends the stream. Of what an inner plan's stage drops,
//         whichever element it was opened for, one number is kept.
//         A resumed run counts from 0. Bad elements among those that it makes again on the way to its checkpoint's place
//         (coro/stream_base.hpp, marks) count again, and how many these are depends on timing.
// Warns:  once for a run, in its report and to runtime_options::on_warning, when it gives or starts from a checkpoint that
//         cannot tell whether a function or data of the plan has changed (plan/identity.hpp).
// Thread: iterate from anywhere; a stream has one consumer at a time.
// Owns: a stream keeps its plan, with the user's functions in it, and its run.
#pragma once

#include <optional>

#include "sluice/coro/any_stream.hpp"
#include "sluice/coro/stream.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/runtime/runtime.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

struct iterate_options {
  checkpoint from = {};  ///< empty: from the start
  /// What a bad element does in stages for which the plan does not say it (plan/on_error.hpp, op/ignore_errors.hpp). A run that
  /// stopped at one may be gone on with under skip, not the other way round.
  error_policy on_error = error_policy::stop;
  std::uint64_t errors_max = ~std::uint64_t{0};  ///< of all stages together: one more ends the stream (Counts, above)
  std::optional<std::uint64_t> seed = {};        ///< for stages without one; drawn when not given
  /// Which epoch this is, where a plan is iterated once per epoch by hand: shuffles draw as in epoch number `epoch` of a
  /// repeat() on top of the plan. Not given: that of the checkpoint, or 0.
  std::optional<std::uint64_t> epoch = {};
  /// Of a resumed run: what a file does that is not as the checkpoint's run saw it. A file's state is its size, time of
  /// modification, inode and device; a listing's, its names. All files open then and the last 1,000 closed are compared.
  changed_inputs on_changed_inputs = changed_inputs::refuse;
};

/// How a run went.
struct run_report {
  std::uint64_t seed = 0;    ///< what stages without a seed of their own drew with
  std::uint64_t epoch = 0;   ///< as iterate_options said, or the checkpoint
  std::uint64_t errors = 0;  ///< bad elements passed over
  std::vector<status> first_errors;
  std::vector<stage_errors> errors_by_stage;  ///< of those that have passed over some, or have a limit
  std::uint64_t inputs_changed = 0;  ///< under changed_inputs::warn: inputs that are not what the checkpoint knew
  std::vector<status> first_changed_inputs;
  std::vector<std::string> warnings;  ///< what its checkpoints cannot vouch for
  /// Its stages, each before its inputs; those of plans that are opened while it runs as they come up. Of stages that are
  /// still working, what they have done up to a moment ago.
  std::vector<site_report> sites;
};

/// A run of any plan, its elements known by their descriptor: what the command line pulls from.
any_stream open_run(runtime& rt, const node_ptr& plan, const iterate_options& o = {});
/// The same, where what is run is a rewritten form of the plan: nodes keep their sites (plan/node.hpp), and checkpoints are
/// those of the plan as it was written, so that they fit it under any other rewriting. For the engine.
erased_stream open_rewritten_run(runtime& rt, const node_ptr& written, const node_ptr& rewritten,
                                 const iterate_options& o = {});

/// Of the run that a stream belongs to. To be called by its consumer, or by whoever knows that it is not asking.
run_report report_of(const stream_base& s);

/// The stages of that run: what each has done, and its knobs, which may be turned from any thread as long as the table is
/// held. Throws failed_precondition where the stream is none of a run's, or lent to a wait that is outstanding.
std::shared_ptr<site_table> sites_of(const stream_base& s);

/// Stops the run and destroys its tree; completes when none of its tasks is alive.
task<void> cleanup(stream_base&& s);

// The same of the streams that users hold.
inline run_report report_of(const any_stream& s) { return report_of(detail::engine_access::of(s)); }
inline std::shared_ptr<site_table> sites_of(const any_stream& s) { return sites_of(detail::engine_access::of(s)); }
inline task<void> cleanup(any_stream&& s) { return cleanup(detail::engine_access::release(std::move(s))); }
template <class T> run_report report_of(const stream<T>& s) { return report_of(detail::engine_access::of(s)); }
template <class T> std::shared_ptr<site_table> sites_of(const stream<T>& s) {
  return sites_of(detail::engine_access::of(s));
}
template <class T> task<void> cleanup(stream<T>&& s) { return cleanup(std::move(detail::engine_access::of(s))); }

template <class T> stream<T> dataset<T>::iterate(runtime& rt) const {
  return stream<T>(detail::engine_access::release(open_run(rt, node_)));
}
template <class T> stream<T> dataset<T>::iterate(runtime& rt, const iterate_options& o) const {
  return stream<T>(detail::engine_access::release(open_run(rt, node_, o)));
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::cleanup;
using lib::iterate_options;
using lib::open_run;
using lib::report_of;
using lib::run_report;
using lib::sites_of;

}  // namespace sluice
