// SPDX-License-Identifier: Apache-2.0
// The traces of elements seen by unique that exceed its memory: sorted runs in files without names.
//
//   trace_runs runs("/tmp");
//   status why = runs.add(seen, true);                             // writes all traces of the set; on a thread that may block
//   if (runs.may_have(t)) …                                        // in memory: false if no run has it, else perhaps
//   status why = runs.look_up(asked);                              // exact; on a thread that may block
//
// A run is sorted by a hash of the traces, in blocks of 256. Memory contains the first hash of each block, and a filter
// of ten bits for each trace (blocks of a cache line; Putze, Sanders, Singler 2007), which reports 1 to 2 % of the
// missing traces as possible. Four runs of about one size are joined into one, so the number of runs is about four
// times the logarithm of the number of traces.
// Errors: resource_exhausted, with the folder: the disk cannot store or return the traces.
// Thread: one call at a time.
// Owns:   its files. They have no names, so they vanish when they are closed and when the process ends in any way.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "op/unique/trace_table.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

/// A trace to look up, and the result.
struct asked_trace {
  element_trace trace;
  std::uint32_t which = 0;  ///< for the caller's use
  bool exists = false;
};

class trace_runs {
 public:
  explicit trace_runs(std::string folder);
  trace_runs(const trace_runs&) = delete;
  ~trace_runs();

  bool empty() const { return runs_.empty(); }
  /// Returns the size of the filters and first hashes.
  std::size_t memory_bytes() const;
  std::size_t runs() const { return runs_.size(); }
  /// Returns the growth of memory_bytes() by a run of n traces.
  static std::size_t memory_bytes_of(std::uint64_t n, bool with_filter);
  /// Returns the memory that add() and join() use in addition to a set of n traces while they work.
  static std::size_t work_bytes_of(std::uint64_t n);

  /// Returns false if no run has the trace.
  bool may_have(const element_trace& t) const;
  /// Writes the set's traces, none of which is in a run yet. The set does not change.
  status add(const trace_table& seen, bool with_filter);
  /// Returns the number of traces of the runs that can be joined now; 0: none.
  std::uint64_t to_join() const;
  /// Joins these runs into one.
  status join(bool with_filter);
  status look_up(std::span<asked_trace> asked) const;

 private:
  struct run;
  class run_writer;
  class run_reader;

  std::size_t first_to_join() const;

  const std::string folder_;
  std::vector<std::unique_ptr<run>> runs_;  ///< large ones first
};

}  // namespace sluice::lib
