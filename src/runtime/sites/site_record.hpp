// SPDX-License-Identifier: Apache-2.0
// The data that a run collects about one stage: see sluice/runtime/site_table.hpp. All streams of the stage share it,
// so later inner plans and epochs use what earlier ones have learned.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <atomic>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/live_knob.hpp"
#include "runtime/sites/channel_record.hpp"
#include "runtime/sites/error_account.hpp"
#include "runtime/sites/size_estimate.hpp"
#include "runtime/small_mutex.hpp"
#include "sluice/coro/stage_counts.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

/// Lives as long as the run's context. Thread: any.
class site_record {
 public:
  /// REQUIRES: `ledger` outlives it.
  site_record(memory_ledger& ledger, std::uint64_t path, std::string name, bool is_inner)
      : ledger_(ledger), path_(path), name_(std::move(name)), is_inner_(is_inner) {}

  std::uint64_t path() const { return path_; }
  const std::string& name() const { return name_; }
  stage_counts& counts() { return counts_; }
  /// Returns the knob with this name. The first call for a name builds it with these values.
  live_knob& knob(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most, bool is_free);
  /// Returns null if no knob has this name.
  live_knob* find_knob(std::string_view name);
  /// Returns the stage's line of the ledger for this purpose, under the stage's name.
  ledger_line& line(purpose p);
  /// Returns the record of the stage's channels with this name. A stage may have channels with several names.
  channel_record& channel(std::string_view name);
  /// The estimate of the sizes of the files that the stage reads.
  size_estimate& file_sizes();
  /// Only site_table::account calls this. The same limit and the same `around` return the same account.
  error_account& account(std::uint64_t errors_max, error_account* around);
  /// Adds the accounts that have counted an error or have a limit. REQUIRES: the caller has the lock under which the
  /// counts are written. `number`: see site_report.
  void report_errors(std::vector<stage_errors>& to, std::uint64_t number) const;
  /// Records that a stage was built. An operator without a stage (ignore_errors, take(-1)) uses its input's stage, and
  /// is not reported.
  void stage_made() noexcept { has_stage_.store(true, std::memory_order_relaxed); }
  bool has_stage() const noexcept { return has_stage_.load(std::memory_order_relaxed); }
  /// Reports these counts as its own: those of a stage that does this one's work. `left_out`: the number of elements at the
  /// start of this stream that are not among them. REQUIRES: the counts live as long as the record.
  void stands_for(const stage_counts& of, std::uint64_t left_out = 0) noexcept {
    if (left_out) left_out_.fetch_add(left_out, std::memory_order_relaxed);
    counts_of_.store(&of, std::memory_order_relaxed);  // an independent pointer to counters of the same run
    stage_made();
  }
  /// Records that the stage reads from the stage of `input`: its input, or the end of an inner plan that it opens.
  void add_input(const site_record& input);
  /// Returns the inputs in the order in which they were first added.
  std::vector<const site_record*> inputs() const;
  site_report report(std::uint64_t number) const;

 private:
  memory_ledger& ledger_;
  const std::uint64_t path_;
  const std::string name_;
  const bool is_inner_;
  std::atomic<bool> has_stage_{false};
  stage_counts counts_;
  std::atomic<const stage_counts*> counts_of_{nullptr};  // null: its own
  std::atomic<std::uint64_t> left_out_{0};               // of those counts
  /// What few stages have. Elements do not move.
  struct parts {
    std::forward_list<std::pair<std::string, live_knob>> knobs;
    std::forward_list<channel_record> channels;
    std::forward_list<std::pair<purpose, own_ledger_line>> lines;
    std::forward_list<error_account> accounts;
    struct inputs {
      std::vector<const site_record*> all;
      absl::flat_hash_set<const site_record*> known;  // the same
    };
    std::unique_ptr<inputs> other_inputs;
    size_estimate file_sizes;
  };
  parts& made_parts() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!parts_) parts_ = std::make_unique<parts>();
    return *parts_;
  }

  mutable small_mutex mutex_;
  const site_record* input_ ABSL_GUARDED_BY(mutex_) = nullptr;  // the first
  std::unique_ptr<parts> parts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
