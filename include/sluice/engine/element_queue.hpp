// SPDX-License-Identifier: Apache-2.0
// A bounded queue from a program to a run: elements of one type, pushed from anywhere, read by one stage (op/from_channel.hpp).
//
// Room. A push is admitted when the queue is empty, or within the limits of elements and bytes and, while a run reads it, within
//   the memory budget: every element in it is charged to that run's ledger. Otherwise the push waits (back-pressure).
// Runs. At most one at a time reads the queue: attach() says whether it may. Elements have ordinals, which a checkpoint
//   counts; a run that begins at another ordinal than that of the first element in the queue makes a *resend* due: what is in
//   the queue is dropped, and pushes fail until the producer has asked from where (resume_from()), or was called (on_open).
// Wakes: a waiter is served under the mutex and woken after it; those that are no coroutines are called after it.
// Thread: any, except where a member says the reader's.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

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

  // The producer's side. An element is moved out of `value` when it is admitted, which ends its life there.

  /// A push that is no coroutine's (sluice/asio.hpp).
  class pending {
   public:
    pending(void* value, std::size_t bytes) : value_(value), bytes_(bytes) {}
    virtual ~pending() = default;
    /// Called once, by any thread, without the queue's mutex. `sent`: the value was moved; otherwise the queue is closed, or
    /// `why` says what else.
    virtual void finished(bool sent, status why) noexcept = 0;

   private:
    friend class element_queue;
    void* value_;
    std::size_t bytes_;
  };
  class push_awaiter;

  enum class pushed : std::uint8_t { sent, full, closed };
  /// Without waiting. Errors: throws failed_precondition while a resend is due.
  pushed try_push(void* value, std::size_t bytes);
  /// Pushes as soon as there is room: finished() is called, perhaps within this call.
  void push(std::unique_ptr<pending> p);
  /// Takes back a push that has not finished; null if it has.
  std::unique_ptr<pending> abandon(const pending* p);
  /// The first call decides. With a status: the run fails with it, behind the elements that are there.
  void close(status why = {});
  /// The ordinal of the element that is to be pushed next. After it a resend is not due any more.
  std::uint64_t resume_from();
  std::size_t size() const;

  // The run's side.

  /// Ok, or failed_precondition where another run reads it. `line`: of the run's ledger; its elements are charged to
  /// it.
  status attach(std::shared_ptr<run_context> run, ledger_line& line);
  void detach();
  /// Its run goes on with the element `ordinal`, as a checkpoint says.
  void resume_at(std::uint64_t ordinal);
  /// Its run begins: what is in the queue is numbered from 0.
  void begin();
  /// Nobody will read it: pushes find it closed.
  void abandon_reading();
  bool may_wait() const;
  class ready_awaiter;
  /// The reader's. Moves the first n elements, or all, to uninitialised room; null destroys them. Returns how many.
  std::uint32_t take(char* to, std::uint32_t n);
  status why() const;

 private:
  struct finished_list;  // pushes, and why each failed
  struct pending_list;

  // REQUIRES of these: the caller has the mutex.
  status resend_error() const;
  bool admits(std::size_t bytes);
  void put(void* value, std::size_t bytes, detail::wake_list& woken);
  detail::attempt offer(void* value, std::size_t bytes, bool& sent, status& why, detail::wake_list& woken);
  void admit(detail::wake_list& woken, finished_list& served);
  bool is_half_empty() const { return elements_.size() <= limits_.elements / 2 && bytes_ <= limits_.bytes / 2; }
  void refuse_waiting(const status& why, detail::wake_list& woken, finished_list& refused);
  std::size_t drop_all();

  static void call(finished_list& list, bool sent) noexcept;
  void credit(std::size_t bytes);
  void room_again() noexcept override;

  const element_type& type_;
  const limits limits_;
  mutable std::mutex mutex_;
  // All below: guarded by mutex_.
  slab elements_;
  std::size_t bytes_ = 0;
  std::uint64_t front_ = 0;  ///< ordinal of the first element, or of the next one that is pushed
  bool closed_ = false;
  bool abandoned_ = false;
  bool resend_due_ = false;
  status why_;
  std::shared_ptr<run_context> run_;  ///< that reads it
  ledger_line* line_ = nullptr;       ///< while a run reads it
  detail::waiter_list senders_;       ///< push_awaiters
  detail::waiter_list readers_;       ///< one at most
  pending_list* const pending_;       ///< oldest first
};

/// The value lives in the awaiter that is derived from it, until it is taken.
class element_queue::push_awaiter : detail::waiter {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
    return wait(h, queue_->mutex_, queue_->senders_, [this](detail::wake_list& woken) { return try_now(woken); });
  }
  /// True once the element is in the queue; false: it is closed.
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
  void left(detail::wake_list& woken) noexcept override;
  detail::attempt try_now(detail::wake_list& woken);

  std::shared_ptr<element_queue> queue_;
  void* value_;
  std::size_t bytes_;
  bool sent_ = false;
};

/// Waits until there is an element, or none will come.
class element_queue::ready_awaiter final : detail::waiter {
 public:
  explicit ready_awaiter(element_queue& q) : queue_(q) {}
  ~ready_awaiter() { abandon(); }
  bool await_ready() const { return !queue_.may_wait(); }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
    return wait(h, queue_.mutex_, queue_.readers_, [this](detail::wake_list&) {
      return queue_.elements_.size() || queue_.closed_ ? detail::attempt::done : detail::attempt::pending;
    });
  }
  void await_resume() const { throw_if_failed(); }

 private:
  element_queue& queue_;
};

}  // namespace sluice::lib
