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
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class site_record;

/// A knob as it stands.
struct knob_report {
  std::string name;
  std::int64_t value = 0, least = 0, most = 0;
};

/// What one stage of the plan has done so far. What its streams have done since they looked at the clock last, half a millisecond
/// ago or 64 blocks, may be missing.
struct site_report {
  std::uint64_t path = 0;  ///< names it within the run, and is the same in every run of the plan
  std::string name;        ///< "map(parse)"
  bool is_inner = false;   ///< it stands in a plan that another stage opens, or below a combine
  std::uint64_t elements = 0;
  std::uint64_t passed = 0;
  std::uint64_t blocks = 0;
  duration busy{};                 ///< its own time, estimated from samples: without its inputs, without waiting
  std::uint64_t waits = 0;         ///< for a channel, a file,
  duration waited{};               ///< and how long
  std::uint64_t room_waits = 0;    ///< what works ahead for it waited because its channel, or the budget, was full,
  duration room_waited{};          ///< and how long
  std::uint64_t bytes = 0;         ///< of its elements in memory, estimated from samples
  std::uint64_t read_bytes = 0;    ///< from files, as they are stored
  std::vector<knob_report> knobs;  ///< those that can be changed now
};

class site_table {
 public:
  site_table();
  site_table(const site_table&) = delete;
  site_table& operator=(const site_table&) = delete;
  ~site_table();

  /// In the order in which they were first opened: a stage before its inputs.
  std::vector<site_report> report() const;
  /// Changes a limit while the run works; takes effect at the next block. The nearest value that is allowed is taken. False:
  /// there is no such stage (it was not opened yet), or it has no knob of that name.
  bool set_knob(std::uint64_t path, std::string_view name, std::int64_t value);

  // For the engine (src/runtime/site_record.hpp).
  /// Null: there is none yet.
  site_record* find(std::uint64_t path) const;
  /// The record of a path, made with this name where there is none.
  site_record& add(std::uint64_t path, std::string name, bool is_inner);

 private:
  struct records;
  std::unique_ptr<records> records_;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::knob_report;
using lib::site_report;
using lib::site_table;

}  // namespace sluice
