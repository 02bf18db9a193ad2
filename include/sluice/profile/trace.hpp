// SPDX-License-Identifier: Apache-2.0
// Records what the runs of this process do, and when, as a trace for ui.perfetto.dev and chrome://tracing.
//
//   trace_recording trace;                              // from here on
//   … iterate, as usual …
//   status why = trace.write("run.trace.json");
//
// Tracks of threads: one for each worker, with nested slices: the times in which it ran without a pause (turn), the blocks
//   that stages made, each with those of its inputs in it (block), the work of tasks ahead (task), and the moments at
//   which a block entered or left a channel (put, take). Arrows lead from each put to its take.
// Other tracks: blocks in channels, waits of at least 50 µs with their reason, and blocks of stages that had to wait, which
//   belong to no thread; the fill of each channel and the bytes of the memory ledger as counters.
// Sampling: stages are shown as often as they are timed (coro/stage_counts.hpp): every block that takes some
//   milliseconds, and some of the others; an argument has the number of blocks that the shown one stands for. At
//   most one block of each channel is shown in each `gap`.
// Time:   that of the runtime's clock. In a simulation it is virtual, and the same seed gives the same trace.
// Cost:   without a recording, one relaxed load at each place that could record; with one, some 100 ns for each event.
// Thread: any.
#pragma once

#include <cstddef>
#include <string>

#include "sluice/base/status.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct trace_options {
  std::size_t events_max =
      500'000;  ///< then the recording ends, and the trace says so; about 100 bytes of the file each
  duration gap = std::chrono::milliseconds(1);  ///< between two blocks of a channel that are shown; 0: shows all
};

/// A process has one recording at a time.
class trace_recording {
 public:
  /// Begins. Errors: throws failed_precondition if another recording is on.
  explicit trace_recording(trace_options o = {});
  trace_recording(const trace_recording&) = delete;
  trace_recording& operator=(const trace_recording&) = delete;
  ~trace_recording();

  /// Ends the recording. Later calls do nothing.
  void stop() noexcept;
  /// Returns true if the recording has ended because of events_max.
  bool is_full() const;
  /// Ends the recording, and returns the trace as JSON, in lines of one event.
  std::string json();
  /// The same in a file, which is replaced as a whole. Errors: those of writing.
  status write(const std::string& path);

 private:
  bool is_on_ = true;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::trace_options;
using lib::trace_recording;

}  // namespace sluice
