// SPDX-License-Identifier: Apache-2.0
// Who still works for runs that nobody holds any more: a destructor cannot await, so it leaves the rest to the reaper.
//
// A stream that is dropped mid-flight stops its run and goes away at once; the run's tasks end on the workers a moment
// later. The runtime's destructor waits for them here, so no task outlives its scheduler, its clock or its ledger.
// Thread: any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice::lib {

class executor;
struct run_context;

class reaper {
 public:
  /// A task begins; one ends. `leave` is called on workers, or before the runtime's destructor begins.
  void enter() noexcept { live_.fetch_add(1, std::memory_order_relaxed); }
  void leave() noexcept;
  void watch(std::shared_ptr<run_context> run);
  std::size_t live() const noexcept { return live_.load(std::memory_order_acquire); }

  /// Stops all runs and waits until no task is live; says so on stderr when that takes long. Drives a simulation.
  void stop_and_wait(executor& exec);

 private:
  std::atomic<std::size_t> live_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::weak_ptr<run_context>> runs_;  ///< guarded by mutex_; the dead are swept when it has doubled
  std::size_t sweep_at_ = 16;
};

}  // namespace sluice::lib
