// SPDX-License-Identifier: Apache-2.0
// The real clock: one thread that sleeps until the next wake-up is due.
//
// Thread: safe from any thread. The first arm() starts the timer thread; most programs never sleep. The destructor
//         joins it; timers that are still armed then never fire.
#pragma once

#include <condition_variable>
#include <thread>

#include "runtime/timers/timer_heap.hpp"
#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class timer_thread final : public clock {
 public:
  timer_thread() = default;
  ~timer_thread();
  time_point now() const noexcept override;
  void arm(timer_node& node) noexcept override;
  bool cancel(timer_node& node) noexcept override;

 private:
  void run();

  mutex mutex_;
  std::condition_variable changed_;
  timer_heap heap_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
