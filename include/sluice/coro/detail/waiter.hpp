// SPDX-License-Identifier: Apache-2.0
// The common part of the awaiters of one primitive (coro/channel.hpp): a suspended coroutine in a queue. It is resumed
// exactly once, either by another coroutine that completes its operation or by a stop.
//
// The awaiter object is the node of the queue, so waiting allocates nothing. The primitive owns a mutex and the queues.
// Two threads may want to wake the same waiter: one that serves it and one that requests a stop:
//   1. wait() arms the stop hook before it queues the waiter. Once the waiter is queued, another thread may resume the
//      coroutine and destroy its frame, so wait() does not access the waiter after that.
//   2. Invariant: the thread that removes a waiter from its queue, which it does under the mutex, also wakes it, after
//      it has released the mutex. So each waiter is woken exactly once.
//   3. A stop before the waiter is queued sets `stopped_`, and wait() then does not queue it. A stop after the waiter
//      was removed finds it in no queue, and does nothing.
// A waiter is served before it is woken: its value has been moved, its room reserved. So await_resume never tries
// again.
//
// Example of a primitive: an event that is set once:
//
//   class event {
//    public:
//     class wait_awaiter final : detail::waiter {
//      public:
//       explicit wait_awaiter(event& e) : event_(e) {}
//       ~wait_awaiter() { abandon(); }
//       bool await_ready() const noexcept { return false; }
//       template <class P>
//       std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
//         auto try_now = [this](detail::wake_list&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(event_.mutex_) {
//           return event_.set_ ? detail::attempt::done : detail::attempt::pending;
//         };
//         return wait(h, event_.mutex_, event_.waiting_, try_now);
//       }
//       void await_resume() const { throw_if_failed(); }          // `cancelled`, after a stop
//
//      private:
//       event& event_;
//     };
//     wait_awaiter wait() { return wait_awaiter(*this); }
//     void set() {
//       detail::waking_lock lock(mutex_);                         // unlocks first, then wakes
//       set_ = true;
//       while (detail::waiter* w = waiting_.front()) w->wake_into(lock.woken);
//     }
//
//    private:
//     mutex mutex_;
//     detail::waiter_list waiting_ ABSL_GUARDED_BY(mutex_);
//     bool set_ ABSL_GUARDED_BY(mutex_) = false;
//   };
//
// Thread: all members that access a queue are called under the primitive's mutex, except where noted.
// Owns:   nothing; the waiting frame owns the awaiter.
#pragma once

#include "sluice/base/assert.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/detail/promise.hpp"
#include "sluice/coro/stop_token.hpp"

namespace sluice::lib::detail {

class waiter;

/// A queue of waiters: a doubly linked list through the waiters, first in, first out. The primitive declares it
/// ABSL_GUARDED_BY its mutex.
class waiter_list {
 public:
  bool empty() const noexcept { return !first_; }
  waiter* front() const noexcept { return first_; }
  inline void push_back(waiter& w) noexcept;
  inline void erase(waiter& w) noexcept;

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// Waiters that have been removed from their queues and will be woken after the mutex is released. A local variable of
/// the thread that removed them; needs no lock.
class wake_list {
 public:
  inline void push_back(waiter& w) noexcept;
  /// Posts each coroutine to its own executor, and empties the list. The wait of a waiter with a status fails
  /// (fail_wait). After the post a waiter's frame may be gone. REQUIRES: the caller does not have the primitive's
  /// mutex, because the executor may resume the coroutine at once, on another thread.
  inline void wake_all() noexcept;

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// A lock guard with a list of waiters to wake. The destructor first unlocks the mutex and then wakes the waiters. A
/// woken coroutine may lock the mutex at once, or destroy the object that contains it, so the mutex must not be
/// accessed afterwards.
class ABSL_SCOPED_LOCKABLE waking_lock {
 public:
  explicit waking_lock(mutex& m) ABSL_EXCLUSIVE_LOCK_FUNCTION(m) : mutex_(m) { m.lock(); }
  waking_lock(const waking_lock&) = delete;
  waking_lock& operator=(const waking_lock&) = delete;
  ~waking_lock() ABSL_UNLOCK_FUNCTION() {
    mutex_.unlock();
    woken.wake_all();
  }
  wake_list woken;  ///< filled while the mutex is locked

 private:
  mutex& mutex_;
};

/// The outcome of trying an operation without suspending.
enum class attempt : std::uint8_t {
  pending,  ///< not possible now: the coroutine must wait
  done,     ///< completed, or ended because the primitive is closed
  failed,   ///< completed with an error, in why_
};

/// Base class of awaiters. A derived class calls wait() in await_suspend, throw_if_failed() in await_resume and
/// abandon() in its destructor.
class waiter {
 public:
  waiter() = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// Removes the waiter from its queue and appends it to `woken`. If `why` is not ok, its wait fails; otherwise the
  /// operation must have been completed for it. REQUIRES: it is queued, and the caller has the mutex.
  void wake_into(wake_list& woken, status why = {}) noexcept {
    SLUICE_REQUIRES(list_, "only a queued waiter is woken");
    list_->erase(*this);
    why_ = std::move(why);
    woken.push_back(*this);
  }

 protected:
  ~waiter() = default;
  /// Called under the mutex after the waiter was removed from its queue without being served, because of a stop or
  /// because its frame is being destroyed. The primitive then serves waiters queued after it, if that is possible now.
  virtual void left(wake_list& woken) noexcept { (void)woken; }

  /// The body of await_suspend: arms the stop hook, calls `try_now(woken) → attempt` under the mutex, and queues the
  /// waiter if that returns `pending`. If it returns `failed`, it has set why_. Returns the coroutine to resume: the
  /// awaiting coroutine if the operation is done, none if it waits, the result of fail_wait if it failed or the
  /// environment is stopped.
  template <class Promise, class TryNow>
  std::coroutine_handle<> wait(std::coroutine_handle<Promise> h, lib::mutex& mutex, waiter_list& queue,
                               TryNow try_now) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    promise_ = &h.promise();
    handle_ = h;
    mutex_ = &mutex;
    hook_.arm(promise_->env->stop, &waiter::on_stop, this);
    attempt a;
    bool queued;
    {
      waking_lock lock(mutex);
      a = try_now(lock.woken);
      queued = a == attempt::pending && !stopped_;
      if (queued) queue.push_back(*this);
    }
    if (queued) return std::noop_coroutine();  // another thread may have destroyed this waiter by now
    if (a == attempt::done) return h;
    return fail_wait(promise_, a == attempt::failed ? std::move(why_) : cancelled_error());
  }

  /// Throws the status that the wait failed with, if it failed. Call it in await_resume.
  void throw_if_failed() const {
    if (promise_) promise_->throw_if_failed();
  }

  /// Removes the waiter from its queue if it is still there. Call it in the destructor of an awaiter. A frame may be
  /// destroyed while it waits, but not between its removal from the queue and its resumption.
  void abandon() noexcept {
    hook_.disarm();
    if (!mutex_ || served_) return;  // after serving it the primitive may have been destroyed, and its mutex with it
    waking_lock lock(*mutex_);
    if (!list_) return;
    list_->erase(*this);
    left(lock.woken);
  }

  status why_;

 private:
  friend class waiter_list;
  friend class wake_list;

  /// Runs on the thread that requests the stop.
  static void on_stop(void* self) noexcept {
    auto& w = *static_cast<waiter*>(self);
    waking_lock lock(*w.mutex_);
    if (!w.list_) {
      w.stopped_ = true;
      return;
    }
    w.list_->erase(w);
    w.left(lock.woken);
    w.why_ = cancelled_error();
    lock.woken.push_back(w);
  }

  promise_base* promise_ = nullptr;
  std::coroutine_handle<> handle_;
  mutex* mutex_ = nullptr;
  waiter_list* list_ = nullptr;  ///< the queue that contains it, or null
  waiter* next_ = nullptr;
  waiter* previous_ = nullptr;
  bool stopped_ ABSL_GUARDED_BY(*mutex_) = false;  ///< a stop came before it was queued
  bool served_ = false;                            ///< it was removed from its queue to be woken
  stop_hook hook_;  // last: its destructor waits for a callback that accesses the members above
};

inline void waiter_list::push_back(waiter& w) noexcept {
  w.list_ = this;
  w.previous_ = last_;
  w.next_ = nullptr;
  (last_ ? last_->next_ : first_) = &w;
  last_ = &w;
}

inline void waiter_list::erase(waiter& w) noexcept {
  (w.previous_ ? w.previous_->next_ : first_) = w.next_;
  (w.next_ ? w.next_->previous_ : last_) = w.previous_;
  w.list_ = nullptr;
}

inline void wake_list::push_back(waiter& w) noexcept {
  w.served_ = true;
  w.next_ = nullptr;
  (last_ ? last_->next_ : first_) = &w;
  last_ = &w;
}

inline void wake_list::wake_all() noexcept {
  while (waiter* w = first_) {
    first_ = w->next_;
    executor* exec = w->promise_->env->exec;
    std::coroutine_handle<> next = w->handle_;
    if (!w->why_.ok()) {
      w->hook_.disarm();  // the hook locks the primitive's mutex, and an unwound frame may outlive the primitive
      next = fail_wait(w->promise_, w->why_);
    }
    exec->post(next);
  }
  last_ = nullptr;
}

}  // namespace sluice::lib::detail
