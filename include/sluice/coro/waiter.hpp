// SPDX-License-Identifier: Apache-2.0
// A coroutine that waits in a list, and can be woken by a peer or by a stop, once.
//
// The waiter is the awaiter object itself, so waiting allocates nothing. The primitive (a channel) owns a mutex
// and the lists; the protocol between the two wakers is:
//   1. wait() arms the stop hook first and queues second: once queued, the frame may be resumed and gone at any moment.
//   2. Whoever takes the waiter off its list, under the mutex, is the one who wakes it, after the mutex is released.
//   3. A stop that comes before the queueing leaves a flag; one that comes after a wake finds no list and does nothing.
// A waiter is woken only once what it asked for has been done for it (the value moved, the bytes taken): a woken coroutine
// never has to look again.
#pragma once

#include <mutex>

#include "sluice/coro/promise.hpp"
#include "sluice/coro/stop_token.hpp"

namespace sluice::lib::detail {

class waiter;

/// Those who wait: intrusive, first in first out. Guarded by the primitive's mutex.
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

/// Those who were served and are to be woken: local to the thread that served them.
class wake_list {
 public:
  inline void push_back(waiter& w) noexcept;
  /// Resumes each on its own executor, or fails its wait there, and empties the list. Call it without the mutex.
  inline void wake_all() noexcept;

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// Holds a mutex; when it goes, it lets go of the mutex and wakes whoever was put on the list meanwhile, in that order:
/// who is woken may lock again at once, or destroy what the mutex is part of.
class waking_lock {
 public:
  explicit waking_lock(std::mutex& m) : mutex_(m) { m.lock(); }
  waking_lock(const waking_lock&) = delete;
  waking_lock& operator=(const waking_lock&) = delete;
  ~waking_lock() {
    mutex_.unlock();
    woken.wake_all();
  }
  wake_list woken;

 private:
  std::mutex& mutex_;
};

enum class attempt : std::uint8_t { pending, done, failed };

class waiter {
 public:
  waiter() = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// Moves it from its queue to those to be woken; with a status, its wait fails. Mutex held.
  void wake_into(wake_list& woken, status why = {}) noexcept {
    list_->erase(*this);
    why_ = std::move(why);
    woken.push_back(*this);
  }

 protected:
  ~waiter() = default;
  /// It left the queue without being served (stop, or its frame was dropped): others may now have their turn.
  virtual void left(wake_list& woken) noexcept { (void)woken; }

  /// The body of await_suspend. `try_now(woken) → attempt` runs under the mutex; on `failed` it has set `why_`.
  template <class Promise, class TryNow>
  std::coroutine_handle<> wait(std::coroutine_handle<Promise> h, std::mutex& mutex, waiter_list& queue,
                               TryNow try_now) {
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
    if (queued) return std::noop_coroutine();  // it is not ours to touch any more
    if (a == attempt::done) return h;
    return fail_wait(promise_, a == attempt::failed ? std::move(why_) : cancelled_error());
  }

  /// For await_resume: throws what the wait failed with.
  void throw_if_failed() const {
    if (promise_) promise_->throw_if_failed();
  }

  /// For the destructor of an awaiter: a frame may be dropped while it waits, though not once it was woken.
  void abandon() noexcept {
    hook_.disarm();
    if (!mutex_ || served_) return;  // served: the primitive itself may be gone by now
    waking_lock lock(*mutex_);
    if (!list_) return;
    list_->erase(*this);
    left(lock.woken);
  }

  status why_;

 private:
  friend class waiter_list;
  friend class wake_list;

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
  std::mutex* mutex_ = nullptr;
  waiter_list* list_ = nullptr;  ///< null: in no queue
  waiter* next_ = nullptr;
  waiter* previous_ = nullptr;
  bool stopped_ = false;
  bool served_ = false;
  stop_hook hook_;
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
      w->hook_.disarm();  // an unwound frame can lie there longer than the primitive whose mutex the hook takes
      next = fail_wait(w->promise_, w->why_);
    }
    exec->post(next);
  }
  last_ = nullptr;
}

}  // namespace sluice::lib::detail
