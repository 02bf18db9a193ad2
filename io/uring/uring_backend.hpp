// SPDX-License-Identifier: Apache-2.0
// Carries operations out on one io_uring, owned by one reactor thread.
//
// Workers push operations onto a lock-free list and, if the reactor may sleep, write to an eventfd that the ring itself
// reads. Only the reactor touches the ring, as SINGLE_ISSUER and DEFER_TASKRUN demand. One ring and not one per worker:
// hits in the page cache never come here (page_cache_reader), and for a miss the two hops of about 3 µs are small.
// `call` operations, for which the ring has no opcode, go to threads.
// Cancel: ASYNC_CANCEL; the operation completes with its own CQE, cancelled or not.
// Owns: a node in flight belongs to the ring until its CQE; the destructor waits for the last one.
#pragma once

#include <liburing.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "io/operation.hpp"
#include "io/threads/thread_backend.hpp"
#include "sluice/base/result.hpp"

namespace sluice::detail {

class uring_backend final : public backend {
 public:
  /// Errors: unavailable, with the errno of the set-up, or naming the opcode that is missing.
  static result<std::unique_ptr<backend>> open(unsigned threads_max);
  ~uring_backend() override;

  void submit(operation* op) noexcept override;
  void cancel(operation* op) noexcept override;
  std::string description() const override { return "io_uring"; }

 private:
  explicit uring_backend(unsigned threads_max) : threads_(threads_max) {}
  status set_up();
  void push(std::atomic<operation*>& list, operation* operation::* link, operation* op) noexcept;
  void notify() noexcept;

  // On the reactor's thread only.
  void serve() noexcept;
  void arm_wake_up() noexcept;
  void take_submissions() noexcept;
  void take_cancellations() noexcept;
  void start(operation* op) noexcept;
  void reap() noexcept;
  int wait_for_last() noexcept;
  io_uring_sqe* next_sqe() noexcept;

  thread_backend threads_;
  io_uring ring_{};
  int event_ = -1;
  std::atomic<operation*> submitted_{nullptr};  ///< newest first
  std::atomic<operation*> cancelled_{nullptr};
  std::atomic<bool> notified_{false};  ///< the reactor will look at the lists without being told again
  std::atomic<bool> closing_{false};
  std::uint64_t event_value_ = 0;  ///< the ring reads the eventfd into it
  bool wake_up_armed_ = false;
  unsigned in_flight_ = 0;              ///< operations in the kernel
  operation* waiting_first_ = nullptr;  ///< taken, but the ring is full
  operation* waiting_last_ = nullptr;
  std::thread reactor_;
};

}  // namespace sluice::detail
