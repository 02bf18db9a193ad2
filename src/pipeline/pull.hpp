// SPDX-License-Identifier: Apache-2.0
// The consumer of the program and of write(): pulls blocks from a run into a sink, and counts.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "output/element_sink.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/pipeline/iterate.hpp"
#include "sluice/runtime/blocking.hpp"

namespace sluice::lib {

/// Read by the progress line while the run goes on.
struct pull_counts {
  std::atomic<std::uint64_t> elements{0};
  std::atomic<std::uint64_t> records{0};  ///< rows, where elements are batches
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<bool> stop{false};  ///< end after the current block
};

/// When checkpoints are due while a run goes on. Nothing set: only at its end.
struct checkpoint_times {
  std::uint64_t every_elements = 0;
  std::chrono::nanoseconds every{0};
};

struct pull_request {
  any_stream stream;
  element_sink* sink = nullptr;
  pull_counts* counts = nullptr;
  std::uint64_t limit = ~std::uint64_t{0};
  checkpoint_times times;
  /// Where sink and save are called, which block; null: on the worker.
  blocking_service* blocking_calls = nullptr;
  /// Makes the sink and a checkpoint of this sealed position durable. Called between two requests, when one is due. Empty: no
  /// position is wanted.
  std::function<status(const std::string& position)> save;
};

struct pull_outcome {
  status why;          ///< ok: the end, the limit or a stop
  bool ended = false;  ///< the end
  /// Sealed: where a resume goes on, also after an error of the run, which it then meets again or not. The sink has
  /// taken just the elements before it. Empty: not wanted, or it is not known which elements the sink has.
  std::string position;
  run_report report;
};

/// Ends when nothing of the run is alive. The sink is neither committed nor finished then. `request` and what it names must
/// outlive the task.
task<pull_outcome> pull(pull_request* request);

}  // namespace sluice::lib
