// SPDX-License-Identifier: Apache-2.0
// One coroutine waits here until another thread sets the event, or until a deadline.
//
//   wake_event changed;
//   changed.set();                                       // any thread
//   bool is_set = co_await changed.wait(deadline);       // false: the deadline has passed
//
// A set() without a waiter ends the next wait at once. So the waiter first looks at the state that the event announces,
// and then waits: no change is missed.
// Errors: `cancelled`, after a stop.
// Thread: set(): any. One wait at a time.
#pragma once

#include <memory>

#include "sluice/coro/detail/waiter.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib {

class wake_event {
 public:
  class wait_awaiter;
  [[nodiscard]] wait_awaiter wait(time_point deadline);
  void set() noexcept;

 private:
  mutex mutex_;
  detail::waiter_list waiting_ ABSL_GUARDED_BY(mutex_);
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
};

class [[nodiscard]] wake_event::wait_awaiter final : detail::waiter {
 public:
  wait_awaiter(wake_event& e, time_point deadline) noexcept : event_(e), deadline_(deadline) {}
  ~wait_awaiter() {
    end_timer();
    abandon();
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (deadline_ != kNever) start_timer(*h.promise().env->time);
    return wait(h, event_.mutex_, event_.waiting_,
                [this](detail::wake_list&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(event_.mutex_) { return look(); });
  }
  bool await_resume() {
    end_timer();
    throw_if_failed();
    return was_set_;
  }

 private:
  friend class wake_event;
  /// Shared by the awaiter and the clock, because a timer that is firing cannot be cancelled any more.
  struct deadline_timer : timer_node {
    mutex alive;
    wait_awaiter* waits ABSL_GUARDED_BY(alive) = nullptr;
    std::shared_ptr<deadline_timer> self;  ///< while the clock has it
  };

  detail::attempt look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(event_.mutex_);
  void start_timer(clock& time);
  void end_timer() noexcept;
  void on_late() noexcept;
  static void on_timer(timer_node& node) noexcept;

  wake_event& event_;
  time_point deadline_;
  clock* time_ = nullptr;
  std::shared_ptr<deadline_timer> timer_;
  bool was_set_ = false;
  bool late_ = false;
};

inline wake_event::wait_awaiter wake_event::wait(time_point deadline) { return {*this, deadline}; }

}  // namespace sluice::lib
