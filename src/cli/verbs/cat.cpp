// SPDX-License-Identifier: Apache-2.0
#include "cli/inputs/file_readers.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/sinks/line_sink.hpp"
#include "cli/verbs.hpp"
#include "pipeline/pull.hpp"

namespace sluice::lib::cli {

int cat(const cat_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  printing_sink elements;
  pull_counts counts;
  iterate_options o;
  set_errors(a.errors, o);
  o.rules = rules_of({});
  for (const std::string& file : a.files) refuse_folder(file, "cat");
  for (auto& file : matched_files(rt, a.files)) {
    const reader r = reader_of(file, a.format);
    const node_ptr plan = plan_of_file(file, plan_for(file, r, a.format), a.format);
    const quarantine_locks kept = check_errors(*plan, a.errors);
    example_sink examples(example_sink::in_front);  // decided for each file: its records are tf.Examples or not
    line_sink& sink = r.format == "tfrecord" ? static_cast<line_sink&>(examples) : elements;
    sink.begin(file);
    pull_request request;
    request.stream = open_run(rt, plan, o);
    request.sink = &sink;
    request.counts = &counts;
    pull_outcome out = sync_wait(rt, pull(&request));
    report_dropped(out.report);
    if (!out.why.ok()) throw_status(out.why);
    if (sink.closed()) break;
  }
  return kOk;
}

}  // namespace sluice::lib::cli
