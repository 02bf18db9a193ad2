// SPDX-License-Identifier: Apache-2.0
// A mutex of four bytes, for the records of which a run has many: a std::mutex has 40. Locks are short and rarely contended.
//
// The states of "Futexes Are Tricky" (Drepper, 2011), mutex2: 0 is free, 1 is locked, 2 is locked and somebody may wait.
// Invariant: a thread waits only while the state is 2, and the thread that replaces 2 by 0 wakes one. A thread that was woken
//   sets 2, because it does not know whether others wait.
// Thread: any. Not recursive.
#pragma once

#include <atomic>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class ABSL_LOCKABLE small_mutex {
 public:
  small_mutex() = default;
  small_mutex(const small_mutex&) = delete;
  small_mutex& operator=(const small_mutex&) = delete;

  void lock() noexcept ABSL_EXCLUSIVE_LOCK_FUNCTION() {
    int seen = 0;
    // Acquire pairs with the release in unlock(): the data of the earlier holders are visible.
    if (!state_.compare_exchange_strong(seen, 1, std::memory_order_acquire, std::memory_order_relaxed)) wait();
  }
  void unlock() noexcept ABSL_UNLOCK_FUNCTION() {
    if (state_.exchange(0, std::memory_order_release) == 2) state_.notify_one();
  }

 private:
  void wait() noexcept {
    while (state_.exchange(2, std::memory_order_acquire) != 0) state_.wait(2, std::memory_order_relaxed);
  }

  std::atomic<int> state_{0};  // an int, because the library waits for one without a table of its own
};

class ABSL_SCOPED_LOCKABLE small_lock {
 public:
  explicit small_lock(small_mutex& m) noexcept ABSL_EXCLUSIVE_LOCK_FUNCTION(m) : of_(m) { of_.lock(); }
  small_lock(const small_lock&) = delete;
  small_lock& operator=(const small_lock&) = delete;
  ~small_lock() ABSL_UNLOCK_FUNCTION() { of_.unlock(); }

 private:
  small_mutex& of_;
};

}  // namespace sluice::lib
