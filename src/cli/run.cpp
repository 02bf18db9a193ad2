// SPDX-License-Identifier: Apache-2.0
#include <absl/cleanup/cleanup.h>
#include <unistd.h>

#include <cstdio>

#include "cli/checkpoint_file.hpp"
#include "cli/plan_argument.hpp"
#include "cli/progress.hpp"
#include "cli/verbs.hpp"
#include "cli/watch.hpp"

namespace sluice::cli {
namespace {

runtime_options runtime_of(const run_arguments& a) {
  runtime_options o;
  o.workers = a.workers;
  o.memory_budget_bytes = static_cast<std::size_t>(a.memory_budget_bytes);
  o.io = a.io;
  return o;
}

iterate_options iteration_of(const run_arguments& a) {
  iterate_options o;
  o.on_error = a.skip_errors ? error_policy::skip : error_policy::stop;
  o.seed = a.seed;
  if (!a.resume_file.empty()) o.from.bytes = read_checkpoint(a.resume_file);
  return o;
}

/// Pulls with the watch looking on: an interrupt ends the run after its current block, or at the next tick where that
/// block has to wait for something.
pull_outcome pull_watched(watch& interrupts, pull_request& request, runtime& rt, progress& shown) {
  std::shared_ptr<run_base> run = request.stream.shared_run();
  pull_counts& counts = *request.counts;
  bool asked = false;
  interrupts.start([&counts] { counts.stop = true; },
                   [&counts, &shown, &asked, run] {
                     if (asked) run->request_stop();
                     asked = counts.stop;
                     shown.tick();
                   });
  absl::Cleanup ended = [&] {  // also where pull throws: the watch looks at what is here
    interrupts.stop();
    shown.clear();
  };
  return sync_wait(rt, pull(&request));
}

}  // namespace

int run(const run_arguments& a) {
  node_ptr plan = plan_of(a.plan);
  check_sink(a.output, *plan->type);
  iterate_options iteration = iteration_of(a);
  watch interrupts;
  runtime rt(runtime_of(a));
  pull_counts counts;
  pull_request request;
  request.stream = open_run(rt, plan, iteration);
  auto sink = open_sink(a.output, *plan->type, !a.resume_file.empty());
  request.sink = sink.get();
  request.counts = &counts;
  if (a.limit) request.limit = *a.limit;
  request.wants_position = !a.checkpoint_file.empty();

  progress shown(counts, rt, *plan, !a.quiet && isatty(STDERR_FILENO));
  auto start = std::chrono::steady_clock::now();
  pull_outcome out = pull_watched(interrupts, request, rt, shown);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  bool interrupted = counts.stop && (out.why.ok() || out.why.code() == status_code::cancelled);
  if (!a.quiet && !sink->closed()) std::fputs(final_report(counts, seconds.count(), rt, out.report).c_str(), stderr);
  if (!out.why.ok() && !interrupted) throw_status(out.why);
  if (request.wants_position) {
    status written = write_checkpoint(a.checkpoint_file, out.position);
    if (!written.ok()) throw_status(written);
  }
  return interrupted ? kInterrupted : kOk;
}

}  // namespace sluice::cli
