// SPDX-License-Identifier: Apache-2.0
#include <absl/cleanup/cleanup.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/whole_file.hpp"
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
  o.on_warning = [](std::string_view text) {
    std::fprintf(stderr, "sluice: warning: %.*s\n", static_cast<int>(text.size()), text.data());
  };
  return o;
}

iterate_options iteration_of(const run_arguments& a) {
  iterate_options o;
  o.on_error = a.skip_errors ? error_policy::skip : error_policy::stop;
  o.seed = a.seed;
  if (!a.resume_file.empty()) o.from.bytes = read_checkpoint(a.resume_file);
  return o;
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return false;
  std::error_code unknown;
  if (std::filesystem::equivalent(a, b, unknown)) return true;
  auto full = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, unknown), unknown);
  };
  return full(a) == full(b);
}

void check_arguments(const run_arguments& a) {
  if (a.seed && !a.resume_file.empty())
    throw misuse("--resume goes on with the seed of the checkpoint: leave out --seed");
  std::string output = sink_path(a.output);
  if (is_same_file(output, a.checkpoint_file)) throw misuse("--output and --checkpoint are the same file, " + output);
  if (is_same_file(output, a.resume_file)) throw misuse("--output and --resume are the same file, " + output);
}

void throw_unless_ok(const status& why) {
  if (!why.ok()) throw_status(why);
}

status write_checkpoint(whole_file& file, const std::string& position) {
  status why = file.write(position);
  return why.ok() ? file.finish() : why;
}

/// What 100 % of a run are. A resumed one has some of its plan behind it, and does not say how much.
cardinality total_of(const node& plan, const run_arguments& a) {
  if (!a.resume_file.empty()) return {};
  cardinality total = cardinality_of(plan);
  return a.limit ? total.at_most(cardinality::of_many(*a.limit).elements) : total;
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
  check_arguments(a);
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
  whole_file checkpoint;  // begun now: a place that cannot be written to is no news for the end of a long run
  if (request.wants_position) throw_unless_ok(checkpoint.begin(a.checkpoint_file));

  progress shown(counts, rt, total_of(*plan, a), !a.quiet && isatty(STDERR_FILENO));
  auto start = std::chrono::steady_clock::now();
  pull_outcome out = pull_watched(interrupts, request, rt, shown);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  bool interrupted = counts.stop && out.why.ok();
  if (!a.quiet && !sink->closed()) std::fputs(final_report(counts, seconds.count(), rt, out.report).c_str(), stderr);
  status written;
  if (!out.position.empty()) written = write_checkpoint(checkpoint, out.position);
  throw_unless_ok(out.why);
  throw_unless_ok(written);
  return interrupted ? interrupts.exit_status() : kOk;
}

}  // namespace sluice::cli
