// SPDX-License-Identifier: Apache-2.0
// The real executor: a fixed set of worker threads that resume coroutines, those that a consumer waits for first.
//
//   scheduler s(4);
//   s.post(handle);          // a coroutine that can continue; queued on the calling worker, whose cache has its data
//   s.post_later(handle);    // a coroutine that no consumer waits for yet: a new task, a producer
//
// Order:  a worker resumes, in this order: the coroutine that it has posted last; the newest of its own queue; one
//         posted by a thread that is not a worker; the oldest of its own post_later(); the oldest of another worker
//         (work stealing). From time to time it reverses this order, so that no coroutine starves.
// Sharing: worth_sharing() compares the time with the cost of moving work on this machine
//          (src/runtime/sites/moving_cost.hpp). One worker shares nothing. For tests, the constructor reads the
//          environment variable SLUICE_SHARE: with `always` everything is worth sharing, with `mixed` the answers vary.
// Thread: every member may be called from any thread. REQUIRES for the destructor: nothing is posted during or after
//         it.
// Owns:   its threads. Coroutines that are posted and not yet resumed when it is destroyed are not resumed or
//         destroyed.
#pragma once

#include <cstdint>
#include <memory>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

/// Counters of all workers since the start; not consistent with each other while workers are running.
struct scheduler_counts {
  std::uint64_t resumed = 0;  ///< coroutines resumed
  std::uint64_t stolen = 0;   ///< the part of these taken from another worker's queue
  std::uint64_t parked = 0;   ///< number of times that a worker found nothing to do and blocked
  std::uint64_t woken = 0;    ///< number of times that a blocked worker was woken
};

class scheduler final : public executor {
 public:
  explicit scheduler(unsigned workers);
  ~scheduler();

  /// Ends the workers: each returns when the coroutine that it is running suspends. Coroutines posted afterwards are
  /// never resumed. Must not be called on a worker.
  void join();
  void post(std::coroutine_handle<> h) noexcept override;
  void post_later(std::coroutine_handle<> h) noexcept override;
  bool worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) noexcept override;
  bool on_worker() const noexcept override;
  unsigned workers() const noexcept;
  scheduler_counts counts() const noexcept;

 private:
  class crew;
  std::unique_ptr<crew> crew_;
};

}  // namespace sluice::lib
