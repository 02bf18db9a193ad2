// SPDX-License-Identifier: Apache-2.0
#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_cat.h>

#include <cstdio>
#include <filesystem>

#include "base/files/whole_file.hpp"
#include "base/text/redacted.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/inputs/run_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/messages/text_layout.hpp"
#include "cli/options/identity_options.hpp"
#include "cli/page/served_run.hpp"
#include "cli/reports/figures.hpp"
#include "cli/reports/progress.hpp"
#include "cli/reports/run_record.hpp"
#include "cli/reports/running_report.hpp"
#include "cli/reports/stage_table.hpp"
#include "cli/reports/watch.hpp"
#include "cli/sinks/output_choice.hpp"
#include "cli/verbs.hpp"
#include "io/paths/file_router.hpp"
#include "output/output_file.hpp"
#include "pipeline/output_checkpoint.hpp"
#include "pipeline/pull.hpp"
#include "plan/plan_parts.hpp"
#include "profile/measured_advice.hpp"
#include "sluice/format/inflate.hpp"
#include "sluice/io/files.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/tuner/tuned_plan.hpp"

namespace sluice::lib::cli {
namespace {

changed_inputs policy_named(const std::string& name) {
  if (name == "warn") return changed_inputs::warn;
  if (name == "grown") return changed_inputs::grown;
  return name == "ignore" ? changed_inputs::ignore : changed_inputs::refuse;
}

iterate_options iteration_of(const run_arguments& a, const checkpoint& from) {
  iterate_options o;
  set_errors(a.errors, o);
  o.seed = a.seed;
  o.epoch = a.epoch;
  o.on_changed_inputs = policy_named(a.changed_inputs);
  set_identity(a.identity, o);
  o.from = from;
  o.rules = rules_of(a.optimizer);
  o.trust = a.optimizer.trust();
  o.tune = !a.is_untuned;
  if (a.report.counts_order) o.order_fingerprint = true;
  return o;
}

void check_arguments(const run_arguments& a) {
  if (a.checkpoint_file.empty() && (a.every_elements || a.every.count()))
    throw misuse("--every is the interval of --checkpoint FILE: add --checkpoint job.ckpt");
  if (a.new_output && a.resume_file.empty())
    throw misuse("--new-output belongs to a resumed run: add --resume job.ckpt");
  if (!a.identity.rebases.empty() && a.resume_file.empty())
    throw misuse("--rebase belongs to a resumed run: add --resume job.ckpt");
  iterate_options unused;
  set_identity(a.identity, unused);
}

/// Returns the path of a stream that a source of the plan reads, since a stream has no position to return to; empty if
/// none is known.
std::string stream_in(const node& plan) {
  struct streams final : part_visitor {
    std::string found;
    void path(const file_path& p) override {
      std::error_code unknown;
      if (p.value == "-" || std::filesystem::is_fifo(p.value, unknown)) found = p.value;
    }
  };
  streams here;
  visit_parts(plan, here);
  if (!here.found.empty()) return here.found;
  for (const node_ptr& input : plan.inputs)
    if (std::string found = stream_in(*input); !found.empty()) return found;
  return {};
}

void check_resumable(const node& plan, const run_arguments& a) {
  if (a.checkpoint_file.empty() && a.resume_file.empty()) return;
  std::string stream = stream_in(plan);
  if (stream.empty()) return;
  throw misuse((stream == "-" ? "standard input" : stream) +
               " can be read once only: leave out --checkpoint and --resume, or copy it to a file first");
}

/// Prints each warning once, even with --quiet: warnings are not statistics of the run.
void warn_of_changed_inputs(const run_report& report) {
  for (const status& why : report.first_changed_inputs) print_warning(why.to_string());
  if (report.inputs_changed > report.first_changed_inputs.size())
    print_warning(
        absl::StrCat("and ", counted(report.inputs_changed - report.first_changed_inputs.size(), "more input")));
}

void throw_unless_ok(const status& why) {
  if (!why.ok()) throw_status(why);
}

/// Opens the checkpoint's file. A file of another kind, which is not replaced, is an error of the arguments.
void open_checkpoint(output_checkpoint& checkpoint, const std::string& path) {
  const status why = checkpoint.open(path);
  if (why.code() == status_code::failed_precondition)
    throw misuse(absl::StrCat("--checkpoint: ", path, " ", std::string(why.message())));
  throw_unless_ok(why);
}

/// Returns true if nothing exists at this path. A path that cannot be examined counts as existing; opening it later
/// reports the reason.
bool is_missing(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found;
}

/// Returns the checkpoint from which to resume, if any.
resumed start_of(const run_arguments& a) {
  if (a.resume_file.empty()) return {};
  if (!a.starts_without_checkpoint || !is_missing(a.resume_file)) return read_resumed(a.resume_file).value();
  if (!a.report.quiet) std::fprintf(stderr, "%s does not exist: starting at the beginning\n", a.resume_file.c_str());
  return {};
}

/// Checks that the output contains the elements before the checkpoint. A command line without that output would drop
/// the elements that follow, and its own checkpoint would count them as done.
void check_output_of(const resumed& from, const run_arguments& a) {
  if (from.output.empty() || a.is_output_named) return;
  const std::string output = from.output.format + ":" + (from.output.path.empty() ? "-" : from.output.path);
  throw_status(
      failed_precondition_error(
          "the elements before this checkpoint went to an output, and this run has none: continue with --output " +
          output + ", or drop the rest with --output null")
          .in_file(a.resume_file));
}

void check_seed(const any_stream& stream, const resumed& from, const run_arguments& a) {
  if (from.at.empty() || !a.seed) return;
  std::uint64_t own = report_of(stream).seed;
  if (own == *a.seed) return;
  throw misuse("--seed " + std::to_string(*a.seed) + " is not the seed of the checkpoint " + a.resume_file + ", " +
               std::to_string(own) + ": leave out --seed, or start again without the checkpoint");
}

/// Adds the checkpoint's file name to an error about the checkpoint, and the place of the stage to one about a plan that
/// cannot be split.
any_stream open_from(runtime& rt, const node_ptr& plan, const iterate_options& how, const run_arguments& a) {
  try {
    return open_run(rt, plan, how);
  } catch (const error& e) {
    if (names_stage(e.why())) throw_at_stage(e.why(), *plan, a.plan, a.plan_file);
    const bool is_of_checkpoint = e.code() == status_code::data_loss || e.code() == status_code::failed_precondition;
    if (how.from.empty() || !is_of_checkpoint || !e.why().where().file.empty()) throw;
    throw error(e.why().in_file(a.resume_file));
  }
}

/// Returns the number of elements that is 100 % of a run. Unknown for a resumed run, whose checkpoint does not record
/// how much of the plan is done.
cardinality total_of(const node& plan, const run_arguments& a, const resumed& from) {
  if (!from.at.empty()) return {};
  cardinality total = cardinality_of(plan);
  return a.limit ? total.at_most(cardinality::of_many(*a.limit).elements) : total;
}

std::unique_ptr<element_sink> open_output(const run_arguments& a, const output_choice& output, const element_type& type,
                                          const resumed& from, const watch& interrupts) {
  output_start start;
  start.continues = !from.at.empty() && !a.new_output;
  if (start.continues) start.from = from.output;
  output_choice watched = output;
  watched.options.stop_fd = interrupts.interrupted_fd();
  std::uint64_t cut_bytes = 0;
  auto sink = open_sink(watched, type, start, cut_bytes);
  const std::string& path = output.options.path;
  if (cut_bytes && !a.report.quiet)
    std::fprintf(stderr, "%s: %s after the checkpoint cut off\n", path.empty() ? "standard output" : path.c_str(),
                 counted(cut_bytes, "byte").c_str());
  return sink;
}

/// Returns true if the written file takes its name at the end and replaces a previous file.
bool takes_name(const output_choice& output) {
  const output_options& o = output.options;
  if (output.is_null || o.descriptor >= 0) return false;
  return o.is_remote() || o.is_sharded() || !output_file::is_stream(o.path);
}

/// The checkpoint takes its name first, then the output (output_file explains the order). An output that is not whole
/// keeps the name of a part, which the checkpoint describes; without a checkpoint it is removed. `is_saved`: set to true
/// if the checkpoint has the position behind the last element.
status end_output(output_checkpoint& checkpoint, const pull_outcome& out, element_sink& sink, bool is_whole,
                  bool& is_saved) {
  is_saved = false;
  if (checkpoint.is_wanted() ? out.position.empty() : !out.why.ok()) return {};
  output_place unused;
  status why = checkpoint.is_wanted() ? checkpoint.save(out.position, sink) : sink.commit(unused);
  is_saved = checkpoint.is_wanted() && why.ok();
  return why.ok() && is_whole ? sink.finish(checkpoint.is_wanted() && !out.ended) : why;
}

/// An incomplete output is not published. Without a checkpoint the sink, which is not finished, removes a new file, and
/// cuts a resumed one back to the checkpoint's length.
void report_unfinished(const output_choice& output, bool continues) {
  const char* removed = output.options.shard_bytes != 0 ? "the incomplete shard is removed"
                        : continues                     ? "the part after the checkpoint is removed"
                                                        : "the incomplete output is removed";
  std::fprintf(stderr, "sluice: %s: interrupted, so %s%s\n", detail::redacted(output.options.path).c_str(), removed,
               output.options.is_remote() ? "" : "; with --checkpoint FILE it would be kept and could be resumed");
}

/// Prints how a run that ended early is resumed.
void report_resumable(const run_arguments& a, const output_choice& output, std::uint64_t elements, bool interrupted) {
  std::string text =
      absl::StrCat(interrupted ? "interrupted after " : "ended by an error after ", counted(elements, "element"));
  if (a.checkpoint_file.empty()) {
    absl::StrAppend(&text, "; with --checkpoint FILE it could be resumed");
  } else {
    if (takes_name(output)) {
      const std::string part = output.options.is_remote() ? absl::StrCat("the objects of ", output.options.path)
                               : output.options.is_sharded()
                                   ? absl::StrCat("the .partial files of ", output.options.path)
                                   : absl::StrCat(output.options.path, ".partial");
      absl::StrAppend(&text, "; ", detail::redacted(part), " and the checkpoint ", a.checkpoint_file,
                      " contain the finished part");
    }
    const bool is_same_command = a.starts_without_checkpoint && a.resume_file == a.checkpoint_file;
    absl::StrAppend(&text, is_same_command
                               ? std::string(": the same command resumes it")
                               : absl::StrCat(": the same command with --resume ", a.checkpoint_file, " resumes it"));
  }
  std::fprintf(stderr, "sluice: %s\n", text.c_str());
}

/// Creates a remote output, and at the end sends its remaining bytes.
void send_output(runtime& rt, element_sink& sink) {
  if (sink.has_unsent()) sync_wait(rt, sink.send());
}

/// Pulls elements while the watch runs. An interrupt ends the run between two blocks, and abandons its waits.
pull_outcome pull_watched(watch& interrupts, pull_request& request, runtime& rt, progress& shown,
                          const report_arguments& a, const run_record& record) {
  std::shared_ptr<run_base> run = detail::engine_access::of(request.stream).shared_run();
  pull_counts& counts = *request.counts;
  running_report repeated(a, counts, rt, record, run);
  interrupts.start(
      [&counts, run] {
        counts.stop = true;
        run->request_stop();
      },
      [&shown, &repeated] { repeated.tick(shown); });
  if (record.served) record.served->attach([&repeated] { return repeated.json(true); }, rt);
  absl::Cleanup ended = [&] {  // also if pull throws, because the watch uses the variables in this scope
    interrupts.stop();
    if (record.served) record.served->detach();
    shown.clear();
  };
  return sync_wait(rt, pull(&request));
}

/// Adds advice to the notes of the verdict: what to write differently, and the figures of this run for it.
void add_advice(const node& plan, pull_outcome& out, bool is_whole) {
  const measured_run measured{out.report.sites, out.report.verdict, out.report.machine, is_whole};
  for (const measured_note& note : measured_advice(plan, measured))
    out.report.verdict.notes.push_back(absl::StrCat("advice: ", detail::redacted(note.text)));
}

/// How a run has ended.
struct run_end {
  bool interrupted = false;
  bool is_whole = false;      ///< the end of the plan or the limit was reached
  bool is_saved = false;      ///< the checkpoint has the position behind the last element
  bool is_removed = false;    ///< the output is incomplete, and no checkpoint describes it
  bool is_of_output = false;  ///< `why` is an error of the output or the checkpoint, and not of the plan
  status why;
};

/// Ends the output, unless it is removed. Errors: in the result.
run_end end_run(const run_arguments& a, const output_choice& output, output_checkpoint& checkpoint,
                const pull_outcome& out, element_sink& sink, runtime& rt, const pull_counts& counts) {
  run_end end;
  end.why = out.why;
  end.interrupted = counts.stop && out.why.ok();
  end.is_whole = out.why.ok() && (out.ended || (a.limit && counts.elements >= *a.limit));
  end.is_removed = end.interrupted && !end.is_whole && !checkpoint.is_wanted() && takes_name(output);
  if (end.is_removed) return end;
  try {
    if (checkpoint.is_wanted() && !out.position.empty()) sync_wait(rt, complete_shard(sink));
    status written = end_output(checkpoint, out, sink, end.is_whole || !takes_name(output), end.is_saved);
    if (end.why.ok()) end.is_of_output = !written.ok(), end.why = written;
    if (end.why.ok()) send_output(rt, sink);
  } catch (const error& e) { end.is_of_output = true, end.why = e.why(); }
  return end;
}

void write_tuned_plan(const std::string& path, const node_ptr& plan, const run_report& of) {
  replaced_file file;
  throw_unless_ok(file.open(path));
  throw_unless_ok(file.replace(plan_text(*tuned_plan(plan, of.tuning, of.sites)) + "\n"));
}

/// Prints the error first, then the report, unless it would be empty.
void report_end(const run_arguments& a, const output_choice& output, const output_checkpoint& checkpoint,
                const pull_outcome& out, const element_sink& sink, const run_end& end, const run_record& record,
                runtime& rt) {
  if (!end.why.ok()) print_error(end.why);
  warn_of_changed_inputs(out.report);
  const bool is_empty = !end.why.ok() && record.elements == 0 && out.report.errors == 0;
  const bool was_complete = record.resumed && out.why.ok() && out.ended && record.elements == 0;
  const bool has_text = !a.report.quiet && !a.report.is_json && !sink.closed();
  const bool shows_profile = a.report.shows_profile || a.report.report_every.count() != 0;
  if (was_complete && !a.report.quiet)
    std::fprintf(stderr, "complete: the checkpoint %s is at the end of the plan, and nothing was left to do\n",
                 a.resume_file.c_str());
  else if (has_text && !is_empty)
    std::fputs(((shows_profile ? profile_text(out.report) : std::string()) +
                fitting_lines(final_report(record, rt), STDERR_FILENO))
                   .c_str(),
               stderr);
  if (a.report.shows_stages && !is_empty) std::fputs(stage_table(out.report.sites).c_str(), stderr);
  if (end.is_removed) return report_unfinished(output, record.resumed && !a.new_output);
  const bool is_examined = a.report.shows_stages || shows_profile;  // the report is what was asked for
  if (output.is_null && !a.is_output_named && has_text && !is_examined && end.is_whole && record.elements != 0)
    std::fputs("no output was requested: add --output jsonl to print the elements\n", stderr);
  const bool is_resumable = end.is_saved || (end.interrupted && !checkpoint.is_wanted());
  if (!end.is_whole && !a.report.quiet && !sink.closed() && !end.is_of_output && is_resumable)
    report_resumable(a, output, record.elements, end.interrupted);
}

}  // namespace

int run(const run_arguments& a) {
  watch interrupts;
  return with_report(a.report, "run", [&](run_record& record) { return run(a, interrupts, record); });
}

namespace {

/// JSON is written as lines, which a name in .json does not show; and a suffix may be that of another format.
void note_other_suffix(const run_arguments& a, const output_options& o) {
  const std::string name(without_compression_suffix(o.path));
  if (a.report.quiet || a.report.is_json || o.path.empty()) return;
  const std::string path = detail::redacted(o.path);
  if (o.format == output_format::jsonl && name.ends_with(".json"))
    std::fprintf(stderr, "note: %s: JSON lines are written, one element in each line; the usual suffix is .jsonl\n",
                 path.c_str());
  const output_format named = format_of_path(o.path).format;
  const bool is_other = named != output_format::automatic && named != o.format && o.format != output_format::example &&
                        !name.ends_with(".txt");
  if (!is_other) return;
  const std::string suffix = name.substr(name.rfind('.'));
  std::fprintf(stderr, "note: %s: the format is %s, as requested, and not that of %s\n", path.c_str(),
               std::string(to_string(o.format)).c_str(), suffix.c_str());
}

}  // namespace

int run(const run_arguments& a, watch& interrupts, run_record& record) {
  node_ptr plan = a.plan_file.empty() ? plan_of(a.plan) : plan_in_file(a.plan_file);
  record.plan = plan_text(*plan);
  record.checkpoint_file = a.checkpoint_file;
  output_choice output = read_output(a.output, *plan->type);
  if (!output.is_null) record.output = output.text();
  if (!output.is_null) note_other_suffix(a, output.options);
  check_arguments(a);
  check_run_files(*plan, a, output.options);
  const std::string& resumes_by = a.checkpoint_file.empty() && !a.new_output ? a.resume_file : a.checkpoint_file;
  if (status why = check_can_resume(output.options, resumes_by); !why.ok())
    throw misuse(absl::StrCat(why.where().file, ": ", std::string(why.message()),
                              a.checkpoint_file.empty() ? ", or continue with --new-output into another one" : ""));
  check_resumable(*plan, a);
  interrupts.hold();
  const quarantine_locks kept = check_errors(*plan, a.errors);
  // Both files are opened now, so that a place that cannot be written to is reported before a long run. The checkpoint
  // is read under its lock, so that nobody replaces it afterwards.
  output_checkpoint checkpoint;
  open_checkpoint(checkpoint, a.checkpoint_file);
  resumed from = start_of(a);
  check_output_of(from, a);
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  output.options.rt = &rt;
  pull_counts counts;
  pull_request request;
  request.stream = open_from(rt, plan, iteration_of(a, from.at), a);
  check_seed(request.stream, from, a);
  std::unique_ptr<element_sink> sink = open_output(a, output, *plan->type, from, interrupts);
  request.sink = sink.get();
  request.counts = &counts;
  if (a.limit) request.limit = *a.limit;
  request.times = {.every_elements = a.every_elements, .every = a.every};
  if (checkpoint.is_wanted())
    request.save = [&](const std::string& position) { return checkpoint.save(position, *sink); };

  send_output(rt, *sink);  // reports that nothing can be written before anything is read
  progress shown(counts, rt, total_of(*plan, a, from), a.report);
  auto start = std::chrono::steady_clock::now();
  pull_outcome out = pull_watched(interrupts, request, rt, shown, a.report, record);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  record.seconds = seconds.count();
  record.resumed = !from.at.empty();
  add_advice(*plan, out, out.ended && !record.resumed);
  fill_record(record, counts, rt, out.report);
  if (!a.tuned_plan_file.empty()) write_tuned_plan(a.tuned_plan_file, plan, out.report);
  const run_end end = end_run(a, output, checkpoint, out, *sink, rt, counts);
  record.interrupted = end.interrupted;
  record.complete = end.is_whole && end.why.ok();
  record.why = end.why;
  report_end(a, output, checkpoint, out, *sink, end, record, rt);
  if (!end.why.ok()) return exit_status_of(end.why);
  return end.interrupted ? interrupts.exit_status() : kOk;
}

}  // namespace sluice::lib::cli
