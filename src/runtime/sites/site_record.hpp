// SPDX-License-Identifier: Apache-2.0
// What is known of one stage of a run: see sluice/runtime/site_table.hpp. All streams of the stage share it, so what those of
// one inner plan, or of one epoch, have learned the next ones know.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/live_knob.hpp"
#include "runtime/sites/cost_estimate.hpp"
#include "runtime/sites/error_account.hpp"
#include "runtime/sites/size_estimate.hpp"
#include "sluice/coro/stage_counts.hpp"
#include "sluice/runtime/site_table.hpp"

namespace sluice::lib {

/// Lives as long as the run's context. Thread: any.
class site_record {
 public:
  site_record(std::uint64_t path, std::string name, bool is_inner)
      : path_(path), name_(std::move(name)), is_inner_(is_inner) {}

  std::uint64_t path() const { return path_; }
  const std::string& name() const { return name_; }
  stage_counts& counts() { return counts_; }
  /// The knob of that name, made with these values when it is first asked for.
  live_knob& knob(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most, bool is_free);
  /// Null: there is none.
  live_knob* find_knob(std::string_view name);
  /// What its channel of that name has learned of its elements. A stage may have several channels.
  size_estimate& sizes(std::string_view channel);
  /// The same of what they cost.
  cost_estimate& costs(std::string_view channel);
  /// site_table::account is what makes them. The same limit and the same `around` give the same account.
  error_account& account(std::uint64_t errors_max, error_account* around);
  /// Adds those of its accounts that have counted something, or have a limit. Under the lock that the counts are written under.
  /// `number`: see site_report.
  void report_errors(std::vector<stage_errors>& to, std::uint64_t number) const;
  /// A stage was made. An operator without one (ignore_errors, take(-1)) is its input's stage, and is not reported.
  void stage_made() noexcept { has_stage_.store(true, std::memory_order_relaxed); }
  bool has_stage() const noexcept { return has_stage_.load(std::memory_order_relaxed); }
  /// The stage reads from the stage of `input`: its input, or the end of an inner plan that it opens.
  void add_input(const site_record& input);
  /// In the order in which they were added first.
  std::vector<const site_record*> inputs() const;
  site_report report(std::uint64_t number) const;

 private:
  const std::uint64_t path_;
  const std::string name_;
  const bool is_inner_;
  std::atomic<bool> has_stage_{false};
  stage_counts counts_;
  mutable std::mutex mutex_;
  // Guarded by mutex_; they stay where they are. Lists, because most are empty: an empty deque takes half a kilobyte.
  std::list<std::pair<std::string, live_knob>> knobs_;
  std::list<std::pair<std::string, size_estimate>> sizes_;
  std::list<std::pair<std::string, cost_estimate>> costs_;
  std::list<error_account> accounts_;
  std::vector<const site_record*> inputs_;
};

}  // namespace sluice::lib
