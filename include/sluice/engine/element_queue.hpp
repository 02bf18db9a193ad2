// SPDX-License-Identifier: Apache-2.0
// A bounded queue from a program to a run: elements of one type, pushed by any thread, read by one stage
// (op/from_channel.hpp).
//
// Room. A push is admitted when the queue is empty, or within the limits of elements and bytes and, while a run reads
// it, within the memory budget: every element in it is charged to that run's ledger. Otherwise the push waits
// (back-pressure).
// Runs. At most one run at a time reads the queue: attach() returns whether it may. Elements have ordinals, which a
// checkpoint counts. If a run begins at another ordinal than that of the first element in the queue, a *resend* is due:
// the elements in the queue are dropped, and pushes fail until the producer has called resume_from(), or was called
// (on_open).
// Wakes: a waiter is served under the mutex and woken after it. Waiters that are not coroutines are called after it.
// Thread: any, except for members marked "the reader's".
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/detail/waiter.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/runtime/ledger.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

class element_queue final : public room_waiter, public std::enable_shared_from_this<element_queue> {
 public:
  struct limits {
    std::size_t elements = 64;
    std::size_t bytes = std::size_t{16} << 20;
  };
  element_queue(const element_type& type, limits l);
  ~element_queue();

  const element_type& type() const { return type_; }

  // The producer's side. An element is moved out of `value` when it is admitted, which ends its lifetime there.

  /// A push that is not made by a coroutine (sluice/asio.hpp).
  class pending {
   public:
    pending(void* value, std::size_t bytes) : value_(value), bytes_(bytes) {}
    virtual ~pending() = default;
    /// Called once, by any thread, without the queue's mutex. `sent`: the value was moved. Otherwise the queue is
    /// closed, or `why` has another reason.
    virtual void finished(bool sent, status why) noexcept = 0;

   private:
    friend class element_queue;
    void* value_;
    std::size_t bytes_;
  };
  class push_awaiter;

  enum class pushed : std::uint8_t { sent, full, closed };
  /// Pushes without waiting. Errors: throws failed_precondition while a resend is due.
  pushed try_push(void* value, std::size_t bytes);
  /// Pushes as soon as the queue has room. finished() is called, perhaps within this call.
  void push(std::unique_ptr<pending> p);
  /// Withdraws a push that has not finished; returns null if it has.
  std::unique_ptr<pending> abandon(const pending* p);
  /// Closes the queue. Only the first call has an effect. With a status, the run fails with it after the elements in
  /// the queue.
  void close(status why = {});
  /// Returns the ordinal of the next element to push. After this call no resend is due.
  std::uint64_t resume_from();
  std::size_t size() const;

  // The run's side.

  /// Returns ok, or failed_precondition if another run reads the queue. `line`: a line of the run's ledger, which the
  /// elements are charged to.
  status attach(std::shared_ptr<run_context> run, ledger_line& line);
  void detach();
  /// Its run continues with the element `ordinal` of a checkpoint.
  void resume_at(std::uint64_t ordinal);
  /// Its run begins: the elements in the queue are numbered from 0.
  void begin();
  /// No run will read the queue: pushes find it closed.
  void abandon_reading();
  bool may_wait() const;
  class ready_awaiter;
  /// The reader's. Moves the first n elements, or all, to uninitialized room; a null `to` destroys them. Returns their
  /// number.
  std::uint32_t take(char* to, std::uint32_t n);
  status why() const;

 private:
  struct finished_list;  // pushes, and why each one failed
  struct pending_list;

  status resend_error() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool admits(std::size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void put(void* value, std::size_t bytes, detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  detail::attempt offer(void* value, std::size_t bytes, bool& sent, status& why, detail::wake_list& woken)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void admit(detail::wake_list& woken, finished_list& served) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool is_half_empty() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return elements_.size() <= limits_.elements / 2 && bytes_ <= limits_.bytes / 2;
  }
  void refuse_waiting(const status& why, detail::wake_list& woken, finished_list& refused)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::size_t drop_all() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static void call(finished_list& list, bool sent) noexcept;
  void credit(std::size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  void room_again() noexcept override;

  const element_type& type_;
  const limits limits_;
  mutable mutex mutex_;
  slab elements_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t front_ ABSL_GUARDED_BY(mutex_) =
      0;  ///< ordinal of the first element, or of the next one that is pushed
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
  bool resend_due_ ABSL_GUARDED_BY(mutex_) = false;
  status why_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<run_context> run_ ABSL_GUARDED_BY(mutex_);  ///< the run that reads it
  ledger_line* line_ ABSL_GUARDED_BY(mutex_) = nullptr;       ///< set while a run reads it
  detail::waiter_list senders_ ABSL_GUARDED_BY(mutex_);       ///< push_awaiters
  detail::waiter_list readers_ ABSL_GUARDED_BY(mutex_);       ///< at most one
  pending_list* const pending_ ABSL_PT_GUARDED_BY(mutex_);    ///< oldest first
};

/// The value lives in the derived awaiter until it is moved out.
class element_queue::push_awaiter : detail::waiter {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return wait(h, queue_->mutex_, queue_->senders_,
                [this](detail::wake_list& woken)
                    ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_->mutex_) { return try_now(woken); });
  }
  /// Returns true once the element is in the queue, and false if the queue is closed.
  bool await_resume() const {
    throw_if_failed();
    return sent_;
  }

 protected:
  push_awaiter(std::shared_ptr<element_queue> q, void* value, std::size_t bytes);
  ~push_awaiter();
  bool is_sent() const { return sent_; }

 private:
  friend class element_queue;
  void left(detail::wake_list& woken) noexcept override ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_->mutex_);
  detail::attempt try_now(detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_->mutex_);

  std::shared_ptr<element_queue> queue_;
  void* value_;
  std::size_t bytes_;
  bool sent_ = false;
};

/// Waits until an element exists, or none will come.
class element_queue::ready_awaiter final : detail::waiter {
 public:
  explicit ready_awaiter(element_queue& q) : queue_(q) {}
  ~ready_awaiter() { abandon(); }
  bool await_ready() const { return !queue_.may_wait(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return wait(h, queue_.mutex_, queue_.readers_,
                [this](detail::wake_list&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(queue_.mutex_) {
                  return queue_.elements_.size() || queue_.closed_ ? detail::attempt::done : detail::attempt::pending;
                });
  }
  void await_resume() const { throw_if_failed(); }

 private:
  element_queue& queue_;
};

}  // namespace sluice::lib
