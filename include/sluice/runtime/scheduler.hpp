// SPDX-License-Identifier: Apache-2.0
// A fixed set of workers that resume coroutines, nearest to the consumer first.
//
//   scheduler s(4);
//   s.post(handle);          // soon, on this worker if called on one: the data it waits for is in this cache
//   s.post_later(handle);    // after what is waited for: fresh tasks, producers
//
// Order:  a worker takes its last post, then its own newest, then what came from outside, then its own oldest `later`,
//         then other workers' oldest. Now and then the other way round, so nothing starves.
// Thread: all members from any thread. The destructor joins the workers; nothing may be posted during or after it.
#pragma once

#include <cstdint>
#include <memory>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

/// What the workers did since the start, summed; figures of a moment.
struct scheduler_counts {
  std::uint64_t resumed = 0;
  std::uint64_t stolen = 0;
  std::uint64_t parked = 0;
  std::uint64_t woken = 0;
};

class scheduler final : public executor {
 public:
  explicit scheduler(unsigned workers);
  ~scheduler();

  /// Ends the workers, once what they are resuming has suspended. What is posted afterwards is dropped. Not on a worker.
  void join();
  void post(std::coroutine_handle<> h) noexcept override;
  void post_later(std::coroutine_handle<> h) noexcept override;
  bool on_worker() const noexcept override;
  unsigned workers() const noexcept;
  scheduler_counts counts() const noexcept;

 private:
  class crew;
  std::unique_ptr<crew> crew_;
};

}  // namespace sluice::lib
