// SPDX-License-Identifier: Apache-2.0
// The reaper counts the tasks of all runs of a runtime, so that the runtime's destructor can wait for the tasks of runs
// whose streams have been destroyed.
//
// A destructor cannot await. So the destructor of a stream that has not ended only requests a stop of its run; the
// run's tasks end on the workers some time later. The runtime's destructor waits for them here, so that no task
// outlives the scheduler, the clock or the ledger that it uses.
// Thread: any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <vector>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class executor;
struct run_context;

class reaper {
 public:
  /// Call it when a task begins.
  void enter() noexcept { live_.fetch_add(1, std::memory_order_relaxed); }
  /// Call it when a task has ended: on a worker, or before the runtime's destructor begins.
  void leave() noexcept;
  /// Adds a run to the runs that stop_and_wait() stops.
  void watch(std::shared_ptr<run_context> run);
  std::size_t live() const noexcept { return live_.load(std::memory_order_acquire); }

  /// Stops all runs and blocks until no task is live. Prints a line to standard error if that takes long. With a
  /// simulation it drives the simulation meanwhile. Called by the runtime's destructor only.
  void stop_and_wait(executor& exec);

 private:
  std::atomic<std::size_t> live_{0};
  mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<run_context>> runs_
      ABSL_GUARDED_BY(mutex_);  ///< expired ones are removed when it has doubled
  std::size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 16;
};

}  // namespace sluice::lib
