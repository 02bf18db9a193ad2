// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <cstdio>

#include "cli/figures.hpp"
#include "cli/pull.hpp"
#include "cli/verbs.hpp"
#include "sluice/op/tfrecord.hpp"

namespace sluice::cli {
namespace {

class no_sink final : public element_sink {
 public:
  status take(const block&) override { return {}; }
  std::uint32_t wanted(const element_type&) const override { return 1024; }
};

struct verdict {
  std::uint64_t records = 0, bytes = 0;
  run_report report;
  status why;  ///< it could not be read on
  bool is_sound() const { return why.ok() && report.errors == 0; }
  const status& first_error() const { return report.first_errors.empty() ? why : report.first_errors.front(); }
  /// Its bytes are wrong; else it could not be opened, or read.
  bool is_damaged() const { return first_error().code() == status_code::data_loss; }
  int exit_status() const {
    if (is_sound()) return kOk;
    switch (first_error().code()) {
      case status_code::not_found:
      case status_code::permission_denied:
      case status_code::invalid_argument: return kMisuse;  // no such file, not ours to read, a directory
      default: return kFailed;
    }
  }
};

/// Reads over damaged records, so that one pass tells them all.
verdict verified(runtime& rt, const std::string& file) {
  no_sink sink;
  pull_counts counts;
  pull_request request;
  request.stream = open_run(rt, tfrecord(file).plan(), {.on_error = error_policy::skip});
  request.sink = &sink;
  request.counts = &counts;
  pull_outcome out = sync_wait(rt, pull(&request));
  return {counts.elements, counts.bytes, std::move(out.report), std::move(out.why)};
}

void tell(const std::string& file, const verdict& v) {
  std::string read =
      absl::StrCat(counted(v.records, "sound record"), " of ", short_bytes(static_cast<double>(v.bytes)));
  if (v.is_sound()) {
    std::printf("%s: sound: %s\n", file.c_str(), read.c_str());
    return;
  }
  std::fflush(stdout);  // errors in their place among the sound ones
  for (auto& why : v.report.first_errors) std::fprintf(stderr, "sluice: %s\n", why.to_string().c_str());
  if (v.report.errors > v.report.first_errors.size())
    std::fprintf(stderr, "sluice: %s: %s more\n", file.c_str(),
                 counted(v.report.errors - v.report.first_errors.size(), "error").c_str());
  if (!v.why.ok()) std::fprintf(stderr, "sluice: %s\n", v.why.to_string().c_str());
  std::printf("%s: %s: %s\n", file.c_str(), v.is_damaged() ? "damaged" : "not read", read.c_str());
}

}  // namespace

int verify(const std::vector<std::string>& files) {
  runtime rt;
  bool any[] = {false, false, false};  // by exit status
  for (auto& file : files) {
    verdict v = verified(rt, file);
    tell(file, v);
    any[v.exit_status()] = true;
  }
  return any[kFailed] ? kFailed : any[kMisuse] ? kMisuse : kOk;
}

}  // namespace sluice::cli
