// SPDX-License-Identifier: Apache-2.0
#include "cli/line_sink.hpp"
#include "cli/remote_files.hpp"
#include "cli/verbs.hpp"
#include "pipeline/pull.hpp"
#include "sluice/op/tfrecord.hpp"

namespace sluice::lib::cli {

int cat(const std::vector<std::string>& files) {
  runtime rt;
  add_remote_files(rt);
  example_sink sink;
  pull_counts counts;
  for (auto& file : files) {
    sink.begin(file);
    pull_request request;
    request.stream = open_run(rt, tfrecord(file).plan());
    request.sink = &sink;
    request.counts = &counts;
    pull_outcome out = sync_wait(rt, pull(&request));
    if (!out.why.ok()) throw_status(out.why);
    if (sink.closed()) break;
  }
  return kOk;
}

}  // namespace sluice::lib::cli
