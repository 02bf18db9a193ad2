// SPDX-License-Identifier: Apache-2.0
// The consumer for the program and for write(): pulls blocks from a run into a sink, and counts.
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

/// Counts that the progress line reads during the run.
struct pull_counts {
  std::atomic<std::uint64_t> elements{0};
  std::atomic<std::uint64_t> records{0};  ///< rows, if the elements are batches
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<bool> stop{false};  ///< end after the current block
};

/// The times for checkpoints during a run. If nothing is set, the only checkpoint is at the end.
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
  /// The sink and `save` block: they are called on this service; null: on the worker.
  blocking_service* blocking_calls = nullptr;
  /// Makes the sink and a checkpoint of this sealed position durable. Called between two requests, when one is due. If
  /// empty, no position is wanted.
  std::function<status(const std::string& position)> save;
};

struct pull_outcome {
  status why;          ///< ok: the end, the limit or a stop was reached
  bool ended = false;  ///< the end was reached
  /// The sealed position from which a resume continues, also after an error of the run. The resumed run may meet that
  /// error again. The sink has taken exactly the elements before it. Empty: no position was wanted, or it is not known
  /// which elements the sink has.
  std::string position;
  run_report report;
};

/// Ends after all objects of the run have been destroyed. The sink is neither committed nor finished then. `request`
/// and the objects that it refers to must outlive the task.
task<pull_outcome> pull(pull_request* request);

}  // namespace sluice::lib
