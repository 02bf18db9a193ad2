// SPDX-License-Identifier: Apache-2.0
// Notifies a ready_signal at a given time, which limits how long a stage waits for a channel.
//
//   signal_alarm alarm(signal, *run->time);
//   alarm.set(run->time->now() + timeout);
//   co_await signal->changed_since(seen);             // a block is ready, or the time has come, or the run stops
//
// Thread: none; it belongs to its stage. The clock may notify on any thread, also after this object was destroyed.
// Cost:   an allocation and a timer for each set().
#pragma once

#include <memory>
#include <utility>

#include "ahead/ready_signal.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class signal_alarm {
 public:
  signal_alarm(std::shared_ptr<ready_signal> signal, clock& time) : signal_(std::move(signal)), time_(time) {}
  signal_alarm(const signal_alarm&) = delete;
  ~signal_alarm() { clear(); }

  /// Sets the time, and cancels the one that was set before.
  void set(time_point when) {
    clear();
    timer_ = std::make_shared<timer>();
    timer_->due = when;
    timer_->fire = on_time;
    timer_->signal = signal_;
    timer_->armed = timer_;
    time_.arm(*timer_);
  }
  void clear() {
    if (!timer_) return;
    // A timer that cannot be cancelled is firing: it then releases itself.
    if (time_.cancel(*timer_)) timer_->armed.reset();
    timer_.reset();
  }
  bool is_set() const { return timer_ != nullptr; }

 private:
  struct timer : timer_node {
    std::shared_ptr<ready_signal> signal;
    std::shared_ptr<timer> armed;  ///< a reference to itself, from arm() until it has fired or was cancelled
  };
  static void on_time(timer_node& node) noexcept {
    const std::shared_ptr<timer> me = std::move(static_cast<timer&>(node).armed);
    me->signal->notify(ready_signal::kNobody);
  }

  const std::shared_ptr<ready_signal> signal_;
  clock& time_;
  std::shared_ptr<timer> timer_;
};

}  // namespace sluice::lib
