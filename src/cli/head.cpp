// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/image_sink.hpp"
#include "cli/line_sink.hpp"
#include "cli/plan_argument.hpp"
#include "cli/remote_files.hpp"
#include "cli/verbs.hpp"
#include "pipeline/pull.hpp"

namespace sluice::lib::cli {

int head(const head_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  bool is_data = a.plan_file.empty() && names_data(a.plan);
  node_ptr plan = a.plan_file.empty() ? plan_or_reader(a.plan) : plan_in_file(a.plan_file);
  example_sink examples(is_data ? example_sink::in_front : example_sink::is_printed);
  printing_sink elements;
  std::unique_ptr<line_sink> images;
#if SLUICE_HAVE_IMAGES
  if (!a.images_folder.empty()) images = std::make_unique<image_sink>(a.images_folder, *plan->type);
#endif
  line_sink& sink = images ? *images : a.raw ? static_cast<line_sink&>(elements) : examples;
  if (is_data) sink.begin(a.plan);
  pull_counts counts;
  pull_request request;
  check_errors(*plan, a.errors);
  iterate_options o;
  set_errors(a.errors, o);
  request.stream = open_run(rt, plan, o);
  request.sink = &sink;
  request.counts = &counts;
  request.limit = a.elements;
  pull_outcome out = sync_wait(rt, pull(&request));
  tell_dropped(out.report);
  if (!out.why.ok()) throw_status(out.why);
  return kOk;
}

}  // namespace sluice::lib::cli
