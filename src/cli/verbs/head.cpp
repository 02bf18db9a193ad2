// SPDX-License-Identifier: Apache-2.0
#include <absl/cleanup/cleanup.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/sinks/image_sink.hpp"
#include "cli/sinks/line_sink.hpp"
#include "cli/sinks/row_table.hpp"
#include "cli/verbs.hpp"
#include "pipeline/pull.hpp"

namespace sluice::lib::cli {

namespace {

/// Prints the first elements of a plan, at most `most`. Returns the number printed.
std::uint64_t print_first(runtime& rt, const node_ptr& plan, const head_arguments& a, std::uint64_t most,
                          line_sink& sink) {
  pull_counts counts;
  pull_request request;
  const quarantine_locks kept = check_errors(*plan, a.errors);
  iterate_options o;
  set_errors(a.errors, o);
  request.stream = open_run(rt, plan, o);
  request.sink = &sink;
  request.counts = &counts;
  request.limit = most;
  pull_outcome out = sync_wait(rt, pull(&request));
  report_dropped(out.report);
  if (!out.why.ok()) throw_status(out.why);
  return counts.elements;
}

}  // namespace

namespace {

enum class head_output : std::uint8_t { table, csv, lines };

head_output form_of(const std::string& name) {
  if (name.empty()) return isatty(STDOUT_FILENO) ? head_output::table : head_output::lines;
  return name == "table" ? head_output::table : name == "csv" ? head_output::csv : head_output::lines;
}

void print_inputs(const head_arguments& a, line_receiver* receiver) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  // A pattern is expanded to the files that it matches, until enough elements are printed.
  const bool is_pattern = a.plan_file.empty() && is_file_pattern_and_no_plan(a.plan);
  const std::vector<std::string> inputs = is_pattern ? matched_files(rt, {a.plan}) : std::vector{a.plan};
  const bool is_data = is_pattern || (a.plan_file.empty() && names_data(a.plan));
  printing_sink elements;
  std::unique_ptr<line_sink> images;
  std::uint64_t left = a.elements;
  for (const std::string& input : inputs) {
    if (is_pattern && inputs.size() > 1 && is_empty_file(input)) continue;  // an empty file has no header either
    // Decided for each file: its records are tf.Examples or not.
    example_sink examples(is_data ? example_sink::in_front : example_sink::is_printed);
    node_ptr plan = a.plan_file.empty() ? plan_or_reader(input, a.format) : plan_in_file(a.plan_file);
#if SLUICE_HAVE_IMAGES
    if (!a.images_folder.empty() && !images) images = std::make_unique<image_sink>(a.images_folder, *plan->type);
#endif
    line_sink& sink = images ? *images : a.raw ? static_cast<line_sink&>(elements) : examples;
    if (is_data) sink.begin(input);
    sink.print_to(receiver);
    left -= print_first(rt, plan, a, left, sink);
    if (left == 0 || sink.closed()) break;
  }
}

}  // namespace

int head(const head_arguments& a) {
  const head_output form = form_of(a.output);
  if (form == head_output::lines) {
    print_inputs(a, nullptr);
    return kOk;
  }
  row_table rows(form == head_output::csv ? row_table::csv : row_table::table);
  absl::Cleanup printing = [&rows] { rows.print(); };  // also those before an error
  print_inputs(a, &rows);
  if (rows.is_empty() && form == head_output::table && isatty(STDERR_FILENO)) std::fputs("no elements\n", stderr);
  return kOk;
}

}  // namespace sluice::lib::cli
