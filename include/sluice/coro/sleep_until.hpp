// SPDX-License-Identifier: Apache-2.0
// Suspends a coroutine until a moment on the clock of its environment.
//
//   co_await sleep_for(std::chrono::milliseconds(20));
//   co_await sleep_until(when);
//
//   task<reply> with_retries(request q) {                       // waits 10, 20, 40 ms between its attempts
//     for (int attempt = 0;; ++attempt) {
//       auto r = co_await send(q).as_result();
//       if (r.ok() || attempt == 3) co_return std::move(r).value();
//       co_await sleep_for(std::chrono::milliseconds(10 << attempt));
//     }
//   }
//
// Ends:   at `when` or some microseconds later. A moment in the past ends the sleep with the next timer.
// Errors: `cancelled`, after a stop.
// Cancel: a stop ends the sleep at once. A sleeping coroutine may be destroyed; its timer is then cancelled.
// Thread: the coroutine is resumed on its environment's executor. In a simulation the time is virtual and passes at
//         once.
// Cost:   one timer of the clock (a heap operation under its lock); no allocation.
#pragma once

#include <atomic>

#include "sluice/coro/stop_token.hpp"

namespace sluice::lib {

class [[nodiscard]] sleep_until : timer_node {
 public:
  explicit sleep_until(time_point when) noexcept { due = when; }
  sleep_until(const sleep_until&) = delete;
  sleep_until& operator=(const sleep_until&) = delete;
  ~sleep_until() {
    hook_.disarm();
    // The frame is destroyed during its sleep. After the wake-up kOver is set, and the clock may no longer exist.
    if (promise_ && !(state_.load(std::memory_order_acquire) & kOver)) (void)promise_->env->time->cancel(*this);
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) {
    promise_ = &h.promise();
    handle_ = h;
    fire = &sleep_until::on_timer;
    if (relative_) due += promise_->env->time->now().time_since_epoch();
    hook_.arm(promise_->env->stop, &sleep_until::on_stop, this);
    promise_->env->time->arm(*this);
    return settle();
  }
  void await_resume() const { promise_->throw_if_failed(); }

 protected:
  bool relative_ = false;

 private:
  // Three threads may race: the one that suspends the coroutine (S), the timer's (T) and the stop's (X). Each sets its
  // own bit of state_. Invariant: exactly one of them resumes the coroutine.
  //   - Until kSuspended is set, T and X only set their bits, because S is still accessing the awaiter; S then resumes.
  //   - After that T resumes, unless X has cancelled the timer; X resumes only if it has.
  //   - If X cannot cancel the timer, T is firing at that moment, will still access the node, and therefore resumes.
  // kOver: the wake-up has been decided, so the destructor must not access the clock.
  // acq_rel: the thread that resumes the coroutine sees the writes of the other two before the frame can be destroyed.
  static constexpr std::uint8_t kSuspended = 1, kFired = 2, kStopped = 4, kOver = 8;

  std::coroutine_handle<> settle() noexcept {
    std::coroutine_handle<> me = handle_;
    for (auto seen = state_.load(std::memory_order_acquire);;) {
      if (seen & kFired) return mark_over(), me;
      if (seen & kStopped) return settle_stopped();
      // After a successful exchange the coroutine may be resumed, and its frame destroyed, at any moment.
      if (state_.compare_exchange_weak(seen, kSuspended, std::memory_order_acq_rel)) return std::noop_coroutine();
    }
  }
  std::coroutine_handle<> settle_stopped() noexcept {
    std::coroutine_handle<> me = handle_;
    if (promise_->env->time->cancel(*this)) return mark_over(), fail_wait(promise_, cancelled_error());
    // The timer is firing. If it has set kFired already, it has left the wake-up to this thread; otherwise it will find
    // kSuspended and do the wake-up itself.
    auto before = state_.fetch_or(kSuspended, std::memory_order_acq_rel);
    if (before & kFired) return mark_over(), me;
    return std::noop_coroutine();
  }
  // Relaxed: timer and stop are done with state_ by now.
  void mark_over() noexcept { state_.fetch_or(kOver, std::memory_order_relaxed); }
  static void on_timer(timer_node& node) noexcept {
    auto& me = static_cast<sleep_until&>(node);
    executor* exec = me.promise_->env->exec;
    std::coroutine_handle<> h = me.handle_;
    auto before = me.state_.fetch_or(kFired, std::memory_order_acq_rel);
    if (!(before & kSuspended)) return;
    me.state_.fetch_or(kOver, std::memory_order_release);
    exec->post(h);
  }
  static void on_stop(void* self) noexcept {
    auto& me = *static_cast<sleep_until*>(self);
    auto before = me.state_.fetch_or(kStopped, std::memory_order_acq_rel);
    if (!(before & kSuspended) || !me.promise_->env->time->cancel(me)) return;
    me.state_.fetch_or(kOver, std::memory_order_release);
    executor* exec = me.promise_->env->exec;
    exec->post(fail_wait(me.promise_, cancelled_error()));
  }

  promise_base* promise_ = nullptr;
  std::coroutine_handle<> handle_;
  std::atomic<std::uint8_t> state_{0};
  detail::stop_hook hook_;
};

/// Suspends a coroutine for a duration, counted from the moment at which it suspends. Otherwise the same as
/// sleep_until.
class [[nodiscard]] sleep_for final : public sleep_until {
 public:
  explicit sleep_for(duration d) noexcept : sleep_until(time_point(d)) { relative_ = true; }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sleep_for;
using lib::sleep_until;

}  // namespace sluice
