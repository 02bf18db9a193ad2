// SPDX-License-Identifier: Apache-2.0
// Waiting for a moment in the run's own time.
//
//   co_await sleep_for(std::chrono::milliseconds(20));
//   co_await sleep_until(when);
//
// Cancel: a stop ends the sleep at once: it throws `cancelled`.
// Thread: resumes on the environment's executor. Under a simulation the time is virtual and sleeping costs none.
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
    // A frame dropped in its sleep; after a wake the state says so, and the clock may be gone.
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
  // Timer, stop and the suspending thread meet in state_. Each sets its own bit; until kSuspended is set, the other two
  // leave everything to the suspending thread, for the awaiter must not vanish under it. A stop that fails to cancel
  // the timer leaves the wake to the timer, which is firing at that moment and will still touch the node.
  // acq_rel: whoever wakes the sleeper must see the others' writes before the frame goes away.
  static constexpr std::uint8_t kSuspended = 1, kFired = 2, kStopped = 4, kOver = 8;

  std::coroutine_handle<> settle() noexcept {
    std::coroutine_handle<> me = handle_;
    for (auto seen = state_.load(std::memory_order_acquire);;) {
      if (seen & kFired) return mark_over(), me;
      if (seen & kStopped) return settle_stopped();
      // From a successful exchange on, the frame may be resumed and gone.
      if (state_.compare_exchange_weak(seen, kSuspended, std::memory_order_acq_rel)) return std::noop_coroutine();
    }
  }
  std::coroutine_handle<> settle_stopped() noexcept {
    std::coroutine_handle<> me = handle_;
    if (promise_->env->time->cancel(*this)) return mark_over(), fail_wait(promise_, cancelled_error());
    // The timer is firing: if it is through, it left us the wake; if it is not, it will see that we are suspended.
    auto before = state_.fetch_or(kSuspended, std::memory_order_acq_rel);
    if (before & kFired) return mark_over(), me;
    return std::noop_coroutine();
  }
  void mark_over() noexcept { state_.fetch_or(kOver, std::memory_order_relaxed); }  // nobody else looks any more
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

class [[nodiscard]] sleep_for final : public sleep_until {
 public:
  explicit sleep_for(duration d) noexcept : sleep_until(time_point(d)) { relative_ = true; }
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::sleep_for;
using lib::sleep_until;

}  // namespace sluice
