// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <string>

#include "cli/output_stream.hpp"
#include "cli/pull.hpp"
#include "cli/verbs.hpp"
#include "sluice/format/example.hpp"
#include "sluice/op/tfrecord.hpp"

namespace sluice::cli {
namespace {

/// One line for each example.
class example_sink final : public element_sink {
 public:
  status take(const block& records) override {
    std::string text;
    std::vector<std::size_t> ends;
    status why;
    for (std::uint32_t i = 0; i != records.size() && why.ok(); ++i, ++records_) {
      auto json = example_to_json(records.type().text(records.at(i)));
      if (json.ok()) text += *json + "\n";
      else why = json.why().in_file(file_, provenance::kUnknown, records_);
      ends.push_back(text.size());
    }
    std::size_t accepted = 0;
    status written = out_.write(text, ends, accepted);
    return written.ok() ? why : written;
  }
  bool closed() const override { return out_.closed(); }
  void begin(const std::string& file) {
    file_ = file;
    records_ = 0;
  }

 private:
  output_stream out_{STDOUT_FILENO, "standard output", -1, false};
  std::string file_;
  std::uint64_t records_ = 0;
};

}  // namespace

int cat(const std::vector<std::string>& files) {
  runtime rt;
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

}  // namespace sluice::cli
