// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/text/redacted.hpp"
#include "cli/inputs/file_checks.hpp"
#include "cli/inputs/matched_files.hpp"
#include "cli/inputs/plan_argument.hpp"
#include "cli/inputs/remote_files.hpp"
#include "cli/messages/exit_status.hpp"
#include "cli/messages/repeated_reasons.hpp"
#include "cli/reports/figures.hpp"
#include "cli/sinks/tar_end.hpp"
#include "cli/verbs.hpp"
#include "pipeline/pull.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib::cli {
namespace {

/// Returns true if the error is about the contents of the file, and not about reading it.
bool is_damage(const status& why) {
  const provenance& at = why.where();
  const bool is_of_record = at.record_index != provenance::kUnknown || at.offset_bytes != provenance::kUnknown;
  switch (why.code()) {
    case status_code::data_loss: return true;
    case status_code::invalid_argument:
    case status_code::out_of_range: return is_of_record;
    default: return false;
  }
}

struct verdict {
  std::uint64_t records = 0, bytes = 0, errors = 0;
  std::vector<status> first_errors;
  status why;               ///< the reason why reading ended early
  bool is_unknown = false;  ///< no reader knows its format, which is a matter of the arguments
  bool is_sound() const { return why.ok() && errors == 0; }
  /// Returns true if the file's bytes are wrong, rather than that it could not be opened or read.
  bool is_damaged() const { return is_damage(why) || std::any_of(first_errors.begin(), first_errors.end(), is_damage); }
  int exit_status() const {
    if (is_sound()) return kOk;
    int status = is_unknown ? kMisuse : exit_status_of(why);
    for (const lib::status& first : first_errors) status = more_serious(status, exit_status_of(first));
    return status;
  }
};

/// Returns the error with the number of its record among those after the header, as other verbs count.
status without_header(const status& why, std::uint64_t head_elements) {
  const provenance& at = why.where();
  if (head_elements == 0 || at.record_index == provenance::kUnknown || at.record_index < head_elements) return why;
  return status(why.code(), why.message())
      .in_stage(at.stage, at.element)
      .in_file(at.file, at.offset_bytes, at.record_index - head_elements);
}

/// Returns what check_of() returns or throws. `is_misuse`: set to true if the arguments are wrong, and not the file.
result<file_check> check_or_misuse(const std::string& file, const verify_arguments& a, bool& is_misuse) {
  try {
    return check_of(file, a.format, a.compression);
  } catch (const misuse& e) {
    is_misuse = true;
    return invalid_argument_error(e.what());
  }
}

/// Continues after damaged records, so that one pass reports them all.
task<verdict> verified(runtime& rt, std::string file, const verify_arguments& a) {
  verdict v;
  result<file_check> made = check_or_misuse(file, a, v.is_unknown);
  if (!made.ok()) {
    v.why = made.why();
    co_return std::move(v);
  }
  file_check& check = *made;
  pull_counts counts;
  pull_request request;
  iterate_options over_errors;
  over_errors.on_error = error_policy::skip;
  request.stream = open_run(rt, check.plan, over_errors);
  request.sink = check.sink.get();
  request.counts = &counts;
  auto pulling = pull(&request);
  pull_outcome out = co_await pulling;
  const std::uint64_t no_records = check.head_elements + check.sink->passed() + check.sink->errors();
  v.records = counts.elements - std::min<std::uint64_t>(counts.elements, no_records);
  v.bytes = counts.bytes;
  v.errors = out.report.errors + check.sink->errors();
  v.first_errors = std::move(out.report.first_errors);
  for (status& why : v.first_errors) why = without_header(why, check.head_elements);
  v.first_errors.insert(v.first_errors.end(), check.sink->first_errors().begin(), check.sink->first_errors().end());
  v.why = without_header(out.why, check.head_elements);
  if (check.to_end && v.is_sound()) {
    pull_counts none;
    pull_request rest;
    rest.stream = open_run(rt, check.to_end);
    tar_end_sink tar_end;
    if (check.is_tar) rest.sink = &tar_end;
    else rest.sink = check.sink.get();
    rest.counts = &none;
    auto passing = pull(&rest);
    pull_outcome passed = co_await passing;
    v.why = std::move(passed.why);
    if (check.is_tar && v.is_sound()) v.why = tar_end.end_of(file);
  }
  if (check.is_npy && v.is_sound() && file != "-" && !is_compressed(file)) {
    auto looking = files_of(rt).stat(file, io_deadline(rt));
    auto info = co_await looking.as_result();
    if (!info.ok()) v.why = info.why();
    else if (info->has_size()) v.why = check_npy_size(file, info->size_bytes);
  }
  co_return std::move(v);
}

std::string read_of(const verdict& v) {
  return absl::StrCat(counted(v.records, "sound record"), " of ", short_bytes(static_cast<double>(v.bytes)));
}

void report(const std::string& file, const verdict& v, repeated_reasons& reasons) {
  if (v.is_sound()) {
    std::printf("%s: sound: %s\n", file.c_str(), read_of(v).c_str());
    return;
  }
  std::fflush(stdout);  // prints errors at their place among the results of sound files
  for (auto& why : v.first_errors) print_error(why.to_string());
  if (v.errors > v.first_errors.size())
    print_error(absl::StrCat(file, ": ", counted(v.errors - v.first_errors.size(), "more error")));
  if (!v.why.ok()) print_error(reasons.text_of(v.why, file));
  if (v.is_damaged() || v.records != 0)
    std::printf("%s: %s: %s\n", file.c_str(), v.is_damaged() ? "damaged" : "not read", read_of(v).c_str());
  else std::printf("%s: not read\n", file.c_str());
}

/// The files, their verdicts, and the index of the next file, shared by one task for each worker.
class verification {
 public:
  verification(std::vector<std::string> files, const verify_arguments& a)
      : files_(std::move(files)), arguments_(a), verdicts_(files_.size()), is_done_(files_.size()) {}

  static task<void> work(verification& v, runtime& rt) {
    for (std::size_t i = v.next_.fetch_add(1); i < v.files_.size(); i = v.next_.fetch_add(1)) {
      auto reading = verified(rt, v.files_[i], v.arguments_);
      verdict found = co_await reading;
      v.done(i, std::move(found));
    }
  }

  std::size_t files() const { return files_.size(); }
  int exit_status() const {
    int status = kOk;
    bool is_unknown = false, is_damaged = false;
    mutex_lock lock(mutex_);
    for (auto& v : verdicts_) {
      status = more_serious(status, v.exit_status());
      is_unknown |= v.exit_status() == kMisuse;
      is_damaged |= !v.is_sound() && v.is_damaged();
    }
    return is_unknown && !is_damaged ? kMisuse : status;  // rather than a file that cannot be opened
  }

  std::string summary() const {
    std::uint64_t sound = 0, damaged = 0, records = 0, bytes = 0;
    mutex_lock lock(mutex_);
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
  /// Prints the verdicts that are complete so far, in the order of the arguments.
  void done(std::size_t i, verdict v) {
    mutex_lock lock(mutex_);
    verdicts_[i] = std::move(v);
    is_done_[i] = true;
    for (; reported_ < files_.size() && is_done_[reported_]; ++reported_)
      report(detail::redacted(files_[reported_]), verdicts_[reported_], reasons_);
  }

  const std::vector<std::string> files_;
  const verify_arguments& arguments_;
  std::atomic<std::size_t> next_{0};
  mutable mutex mutex_;
  std::vector<verdict> verdicts_ ABSL_GUARDED_BY(mutex_);
  std::vector<bool> is_done_ ABSL_GUARDED_BY(mutex_);
  std::size_t reported_ ABSL_GUARDED_BY(mutex_) = 0;
  repeated_reasons reasons_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

int verify(const verify_arguments& a) {
  runtime rt(runtime_of(a.reading));
  add_remote_files(rt);
  if (a.files.size() == 1) refuse_folder(a.files[0], "verify");  // of several, the files are checked
  verification all(matched_files(rt, a.files), a);
  std::vector<task<void>> workers;
  for (std::size_t n = std::min<std::size_t>(all.files(), rt.workers()); n; --n)
    workers.push_back(verification::work(all, rt));
  auto waiting = [](std::vector<task<void>> tasks) -> task<void> { co_await when_all(std::move(tasks)); };
  sync_wait(rt, waiting(std::move(workers)));
  if (all.files() > 1) std::printf("%s\n", all.summary().c_str());
  return all.exit_status();
}

}  // namespace sluice::lib::cli
