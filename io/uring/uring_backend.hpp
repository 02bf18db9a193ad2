// SPDX-License-Identifier: Apache-2.0
// Carries operations out on one io_uring, owned by one reactor thread.
//
// Workers push operations onto a lock-free list and, if the reactor may sleep, write to an eventfd that the ring itself
// reads. Only the reactor touches the ring, as SINGLE_ISSUER and DEFER_TASKRUN demand. One ring and not one per worker:
// hits in the page cache never come here (page_cache_reader), and for a miss the two hops of about 3 µs are small.
// `call` operations, for which the ring has no opcode, go to threads.
// Errors: where the kernel refuses to be entered (ENOMEM or EAGAIN again and again, EBADR …) the ring is given up: what it has not
// taken yet and all that comes later goes to threads, and description() says so. What it has taken may still be written to by
// the kernel: it is waited for a second, then ends with EIO, and its buffer is left to the kernel for good.
// Cancel: ASYNC_CANCEL; the operation completes with its own CQE, cancelled or not.
// Owns: a node in flight belongs to the ring until its CQE; the destructor waits for the last one.
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
  /// Errors: unavailable, with the errno of the set-up, or naming the opcode that is missing.
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

  // On the reactor's thread only.
  void serve() noexcept;
  void arm_wake_up() noexcept;
  void take_submissions() noexcept;
  void take_cancellations() noexcept;
  void start(operation* op) noexcept;
  void reap() noexcept;
  /// `outcome` is that of one of the operation's steps. True: another one is in the ring. Else it is the operation's.
  bool continues(operation* op, std::int64_t& outcome) noexcept;
  /// It is in the kernel no more.
  void came_back(operation* op) noexcept;
  int wait_for_last() noexcept;
  /// Null: the ring was given up.
  io_uring_sqe* next_sqe() noexcept;
  /// Enters the kernel by `enter`, again where that may help. 0: reap() comes next. Not 0: the ring has to be given up.
  template <class F> int enter(F enter) noexcept;
  void give_up(int error) noexcept;
  void serve_without_ring() noexcept;
  void leave_to_kernel() noexcept;

  thread_backend threads_;
  io_uring ring_{};
  int event_ = -1;
  std::atomic<operation*> submitted_{nullptr};  ///< newest first
  std::atomic<operation*> cancelled_{nullptr};
  std::atomic<bool> notified_{false};  ///< the reactor will look at the lists without being told again
  std::atomic<bool> closing_{false};
  /// The ring reads the eventfd into it. On the heap: a ring that is given up may do so at any time.
  std::unique_ptr<std::uint64_t> event_value_ = std::make_unique<std::uint64_t>(0);
  bool wake_up_armed_ = false;
  std::atomic<int> given_up_{0};        ///< why: an errno
  std::vector<operation*> in_kernel_;   ///< these; its capacity suffices
  operation* waiting_first_ = nullptr;  ///< taken, but the ring is full
  operation* waiting_last_ = nullptr;
  std::thread reactor_;
};

}  // namespace sluice::lib::detail
