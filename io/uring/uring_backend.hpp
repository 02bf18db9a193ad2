// SPDX-License-Identifier: Apache-2.0
// Executes operations on one io_uring, which one reactor thread owns.
//
// Workers push operations onto a lock-free list and, if the reactor may sleep, write to an eventfd that the ring itself
// reads. Only the reactor uses the ring, as SINGLE_ISSUER and DEFER_TASKRUN demand. One ring suffices for all workers:
// hits in the page cache are served by page_cache_reader, and for a miss the two hops of about 3 µs are small. The ring
// has no opcode for `call` operations; threads execute them.
// Errors: if the kernel refuses to be entered (repeated ENOMEM or EAGAIN, EBADR …), the ring is given up. Operations
//         that the kernel has not consumed yet, and all later ones, go to threads, and description() reports it. The
//         kernel may still write to the buffers of the others: they get one second, then end with EIO, and their
//         buffers are never freed.
// Cancel: ASYNC_CANCEL; the operation completes with its own CQE, cancelled or not.
// Owns:   a node in flight belongs to the ring until its CQE; the destructor waits for the last one.
#pragma once

#include <liburing.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/local/operation.hpp"
#include "io/threads/thread_backend.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

class uring_backend final : public backend {
 public:
  /// Errors: unavailable, with the errno of the set-up, or naming the missing opcode.
  static result<std::unique_ptr<backend>> open(unsigned threads_max);
  ~uring_backend() override;

  void submit(operation* op) noexcept override;
  void cancel(operation* op) noexcept override;
  std::string description() const override;

 private:
  explicit uring_backend(unsigned threads_max);
  status set_up();
  void push(std::atomic<operation*>& list, operation* operation::* link, operation* op) noexcept;
  void notify() noexcept;

  // Called on the reactor's thread only.
  void serve() noexcept;
  void arm_wake_up() noexcept;
  void take_submissions() noexcept;
  void take_cancellations() noexcept;
  void start(operation* op) noexcept;
  void reap() noexcept;
  /// Handles the result of one step of an operation. Returns true if another step is in the ring; otherwise `outcome`
  /// is the operation's result.
  bool continues(operation* op, std::int64_t& outcome) noexcept;
  /// Removes the operation from those in the kernel.
  void came_back(operation* op) noexcept;
  int wait_for_last() noexcept;
  /// Returns null if the ring was given up.
  io_uring_sqe* next_sqe() noexcept;
  /// Enters the kernel with `enter`, repeatedly if that may help. Returns 0 if reap() comes next; else the ring must be
  /// given up.
  template <class F> int enter(F enter) noexcept;
  void give_up(int error) noexcept;
  void serve_without_ring() noexcept;
  void leave_to_kernel() noexcept;

  thread_backend threads_;
  io_uring ring_{};
  int event_ = -1;
  std::atomic<operation*> submitted_{nullptr};  ///< newest first
  std::atomic<operation*> cancelled_{nullptr};
  std::atomic<bool> notified_{false};  ///< true: the reactor will take the lists without another wake-up
  std::atomic<bool> closing_{false};
  /// The ring reads the eventfd into it. On the heap, because a ring that was given up may write to it at any time.
  std::unique_ptr<std::uint64_t> event_value_ = std::make_unique<std::uint64_t>(0);
  bool wake_up_armed_ = false;
  std::atomic<int> given_up_{0};        ///< the errno because of which the ring was given up
  std::vector<operation*> in_kernel_;   ///< operations in the kernel; its capacity suffices
  operation* waiting_first_ = nullptr;  ///< accepted while the ring was full
  operation* waiting_last_ = nullptr;
  std::thread reactor_;
};

}  // namespace sluice::lib::detail
