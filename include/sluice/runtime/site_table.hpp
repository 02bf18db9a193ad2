// SPDX-License-Identifier: Apache-2.0
// The stages of a run by their sites: what each has done, and the limits that may be changed while it runs.
//
//   for (const site_report& s : report_of(stream).sites) print(s.name, s.elements, s.busy);
//   sites_of(stream)->set_knob(path, "parallelism", 8);              // pipeline/iterate.hpp
//
// A site is a stage of the plan; all streams of that stage share its record: those of a repeat's epochs, and those of the
// plans that a flat_map or an interleave opens.
// Thread: any.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sluice/coro/stage_counts.hpp"
#include "sluice/runtime/live_knob.hpp"

namespace sluice::lib {

/// A knob as it stands.
struct knob_report {
  std::string name;
  std::int64_t value = 0, least = 0, most = 0;
};

/// What one stage of the plan has done so far. Numbers that streams still keep to themselves (at most 64 blocks each) are missing.
struct site_report {
  std::uint64_t path = 0;  ///< names it within the run, and is the same in every run of the plan
  std::string name;        ///< "map(parse)"
  bool is_inner = false;   ///< it stands in a plan that another stage opens, or below a combine
  std::uint64_t elements = 0;
  std::uint64_t passed = 0;
  std::uint64_t blocks = 0;
  duration busy{};                 ///< its own time, estimated from samples: without its inputs, without waiting
  std::uint64_t waits = 0;         ///< for a channel, a file
  duration waited{};               ///<
  std::uint64_t room_waits = 0;    ///< what works ahead for it waited because its channel, or the budget, was full
  duration room_waited{};          ///<
  std::uint64_t bytes = 0;         ///< of its elements in memory, estimated from samples
  std::uint64_t read_bytes = 0;    ///< from files, as they are stored
  std::vector<knob_report> knobs;  ///< those that can be changed now
};

/// One stage's record. Lives as long as the run's context.
class site_record {
 public:
  site_record(std::uint64_t path, std::string name, bool is_inner)
      : path_(path), name_(std::move(name)), is_inner_(is_inner) {}

  std::uint64_t path() const { return path_; }
  stage_counts& counts() { return counts_; }
  /// The knob of that name, made with these values when it is first asked for.
  live_knob& knob(std::string_view name, std::int64_t value, std::int64_t least, std::int64_t most);
  /// Null: there is none.
  live_knob* find_knob(std::string_view name);
  site_report report() const;
  /// A stage was made. An operator without one (ignore_errors, take(-1)) is its input's stage, and is not reported.
  void stage_made() noexcept { has_stage_.store(true, std::memory_order_relaxed); }
  bool has_stage() const noexcept { return has_stage_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> has_stage_{false};
  const std::uint64_t path_;
  const std::string name_;
  const bool is_inner_;
  stage_counts counts_;
  mutable std::mutex mutex_;
  std::deque<std::pair<std::string, live_knob>> knobs_;  ///< guarded by mutex_; they stay where they are
};

class site_table {
 public:
  /// The record of a path, made by `name()` when it is first asked for.
  template <class Name> site_record& at(std::uint64_t path, bool is_inner, Name name) {
    std::lock_guard lock(mutex_);
    site_record*& record = by_path_[path];
    if (!record) record = &records_.emplace_back(path, name(), is_inner);
    return *record;
  }
  /// In the order in which they were first opened: a stage before its inputs.
  std::vector<site_report> report() const;
  /// Changes a limit while the run works; takes effect at the next block. The nearest value that is allowed is taken. False:
  /// there is no such stage (it was not opened yet), or it has no knob of that name.
  bool set_knob(std::uint64_t path, std::string_view name, std::int64_t value);

 private:
  mutable std::mutex mutex_;
  std::deque<site_record> records_;                          ///< guarded by mutex_; they stay where they are
  std::unordered_map<std::uint64_t, site_record*> by_path_;  ///< guarded by mutex_
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::knob_report;
using lib::site_report;
using lib::site_table;

}  // namespace sluice
