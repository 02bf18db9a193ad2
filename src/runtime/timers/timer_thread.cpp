// SPDX-License-Identifier: Apache-2.0
#include "runtime/timers/timer_thread.hpp"

#include "sluice/base/assert.hpp"

namespace sluice::lib {

timer_thread::~timer_thread() {
  {
    mutex_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

time_point timer_thread::now() const noexcept { return std::chrono::steady_clock::now(); }

void timer_thread::arm(timer_node& node) noexcept {
  SLUICE_REQUIRES(node.fire, "a timer calls nothing");
  mutex_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  heap_.push(node);
  if (node.heap_index == 0) changed_.notify_one();  // it is now the next one
}

bool timer_thread::cancel(timer_node& node) noexcept {
  mutex_lock lock(mutex_);
  return heap_.erase(node);
}

void timer_thread::run() {
  mutex_lock lock(mutex_);
  while (!stopping_) {
    if (heap_.empty()) {
      changed_.wait(lock.inner());
    } else if (time_point due = heap_.next_due(); due > now()) {
      changed_.wait_until(lock.inner(), due);
    } else {
      timer_node* node = heap_.pop();
      lock.unlock();  // fire() posts, and the resumed coroutine may arm a timer again
      node->fire(*node);
      lock.lock();
    }
  }
}

}  // namespace sluice::lib
