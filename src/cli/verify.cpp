// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <atomic>
#include <cstdio>
#include <mutex>

#include "cli/figures.hpp"
#include "cli/plan_argument.hpp"
#include "cli/remote_files.hpp"
#include "cli/verbs.hpp"
#include "pipeline/pull.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/op/tar.hpp"
#include "sluice/op/tfrecord.hpp"
#include "sluice/op/zip_members.hpp"

namespace sluice::lib::cli {
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
task<verdict> verified(runtime& rt, std::string file, compression c) {
  no_sink sink;
  pull_counts counts;
  pull_request request;
  tfrecord_options options;
  options.compression = c;
  tar_options of_tar;
  of_tar.compression = c;
  node_ptr plan;
  if (is_zip(file)) plan = zip_members(file).plan();
  else if (is_tar(file)) plan = tar(file, of_tar).plan();
  else plan = tfrecord(file, options).plan();
  iterate_options over_errors;
  over_errors.on_error = error_policy::skip;
  request.stream = open_run(rt, plan, over_errors);
  request.sink = &sink;
  request.counts = &counts;
  auto pulling = pull(&request);
  pull_outcome out = co_await pulling;
  verdict v{counts.elements, counts.bytes, std::move(out.report), std::move(out.why)};
  co_return v;
}

std::string read_of(const verdict& v) {
  return absl::StrCat(counted(v.records, "sound record"), " of ", short_bytes(static_cast<double>(v.bytes)));
}

void tell(const std::string& file, const verdict& v) {
  if (v.is_sound()) {
    std::printf("%s: sound: %s\n", file.c_str(), read_of(v).c_str());
    return;
  }
  std::fflush(stdout);  // errors in their place among the sound ones
  for (auto& why : v.report.first_errors) std::fprintf(stderr, "sluice: %s\n", why.to_string().c_str());
  if (v.report.errors > v.report.first_errors.size())
    std::fprintf(stderr, "sluice: %s: %s more\n", file.c_str(),
                 counted(v.report.errors - v.report.first_errors.size(), "error").c_str());
  if (!v.why.ok()) std::fprintf(stderr, "sluice: %s\n", v.why.to_string().c_str());
  std::printf("%s: %s: %s\n", file.c_str(), v.is_damaged() ? "damaged" : "not read", read_of(v).c_str());
}

/// The files, their verdicts, and who is next: shared by as many tasks as there are workers.
class verification {
 public:
  verification(const std::vector<std::string>& files, compression c)
      : files_(files), compression_(c), verdicts_(files.size()), is_done_(files.size()) {}

  static task<void> work(verification& v, runtime& rt) {
    for (std::size_t i = v.next_.fetch_add(1); i < v.files_.size(); i = v.next_.fetch_add(1)) {
      auto reading = verified(rt, v.files_[i], v.compression_);
      verdict found = co_await reading;
      v.done(i, std::move(found));
    }
  }

  int exit_status() const {
    bool any[] = {false, false, false};  // by exit status
    for (auto& v : verdicts_) any[v.exit_status()] = true;
    return any[kFailed] ? kFailed : any[kMisuse] ? kMisuse : kOk;
  }

  std::string summary() const {
    std::uint64_t sound = 0, damaged = 0, records = 0, bytes = 0;
    for (auto& v : verdicts_) {
      sound += v.is_sound();
      damaged += !v.is_sound() && v.is_damaged();
      records += v.records;
      bytes += v.bytes;
    }
    return absl::StrCat(counted(verdicts_.size(), "file"), ": ", sound, " sound, ", damaged, " damaged, ",
                        verdicts_.size() - sound - damaged, " not read; ", counted(records, "sound record"), " of ",
                        short_bytes(static_cast<double>(bytes)));
  }

 private:
  /// Tells what can be told by now in the order of the arguments.
  void done(std::size_t i, verdict v) {
    std::lock_guard lock(mutex_);
    verdicts_[i] = std::move(v);
    is_done_[i] = true;
    for (; told_ < files_.size() && is_done_[told_]; ++told_) tell(files_[told_], verdicts_[told_]);
  }

  const std::vector<std::string>& files_;
  const compression compression_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // what follows is guarded by it
  std::vector<verdict> verdicts_;
  std::vector<bool> is_done_;
  std::size_t told_ = 0;
};

}  // namespace

int verify(const std::vector<std::string>& files, compression c) {
  runtime rt;
  add_remote_files(rt);
  verification all(files, c);
  std::vector<task<void>> workers;
  for (std::size_t n = std::min<std::size_t>(files.size(), rt.workers()); n; --n)
    workers.push_back(verification::work(all, rt));
  auto waiting = [](std::vector<task<void>> tasks) -> task<void> { co_await when_all(std::move(tasks)); };
  sync_wait(rt, waiting(std::move(workers)));
  if (files.size() > 1) std::printf("%s\n", all.summary().c_str());
  return all.exit_status();
}

}  // namespace sluice::lib::cli
