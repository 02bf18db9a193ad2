// SPDX-License-Identifier: Apache-2.0
#include "io/messages/wake_event.hpp"

namespace sluice::lib {

void wake_event::set() noexcept {
  detail::waking_lock lock(mutex_);
  auto* waits = static_cast<wait_awaiter*>(waiting_.front());
  if (!waits) {
    set_ = true;
    return;
  }
  waits->was_set_ = true;
  waits->wake_into(lock.woken);
}

detail::attempt wake_event::wait_awaiter::look() {
  if (event_.set_) {
    event_.set_ = false;
    was_set_ = true;
  }
  return was_set_ || late_ ? detail::attempt::done : detail::attempt::pending;
}

void wake_event::wait_awaiter::start_timer(clock& time) {
  time_ = &time;
  timer_ = std::make_shared<deadline_timer>();
  timer_->due = deadline_;
  timer_->fire = &wait_awaiter::on_timer;
  timer_->self = timer_;
  {
    mutex_lock lock(timer_->alive);
    timer_->waits = this;
  }
  time.arm(*timer_);
}

void wake_event::wait_awaiter::end_timer() noexcept {
  if (!timer_) return;
  if (time_->cancel(*timer_)) timer_->self.reset();
  {
    mutex_lock lock(timer_->alive);  // waits for a timer that is firing
    timer_->waits = nullptr;
  }
  timer_.reset();
}

void wake_event::wait_awaiter::on_timer(timer_node& node) noexcept {
  auto timer = std::move(static_cast<deadline_timer&>(node).self);
  mutex_lock lock(timer->alive);  // the waiter is not destroyed before on_late() has returned
  if (timer->waits) timer->waits->on_late();
}

void wake_event::wait_awaiter::on_late() noexcept {
  detail::waking_lock lock(event_.mutex_);
  late_ = true;
  if (event_.waiting_.front() == this) wake_into(lock.woken);
}

}  // namespace sluice::lib
