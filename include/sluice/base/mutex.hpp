// SPDX-License-Identifier: Apache-2.0
// A mutex and its lock. clang checks that only the thread that locked the mutex uses the members it guards:
//
//   void add(int n) {
//     mutex_lock lock(mutex_);
//     sum_ += n;
//   }
//   mutex mutex_;
//   int sum_ ABSL_GUARDED_BY(mutex_) = 0;
//
// clang's -Wthread-safety, which the build turns on, reports a use of sum_ without the lock. The analysis ignores
// std::mutex, because libstdc++ does not annotate it.
// Cost: that of std::mutex and std::unique_lock.
#pragma once

#include <mutex>

#if __has_include(<absl/base/thread_annotations.h>)
#include <absl/base/thread_annotations.h>
#else  // A program that uses the shared library may have no Abseil: the annotations are empty for it.
#define ABSL_LOCKABLE
#define ABSL_SCOPED_LOCKABLE
#define ABSL_EXCLUSIVE_LOCK_FUNCTION(...)
#define ABSL_UNLOCK_FUNCTION(...)
#define ABSL_GUARDED_BY(x)
#define ABSL_PT_GUARDED_BY(x)
#define ABSL_EXCLUSIVE_LOCKS_REQUIRED(...)
#define ABSL_LOCKS_EXCLUDED(...)
#define ABSL_NO_THREAD_SAFETY_ANALYSIS
#endif

namespace sluice::lib {

class ABSL_LOCKABLE mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { inner_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { inner_.unlock(); }

 private:
  friend class mutex_lock;
  std::mutex inner_;
};

/// Has the mutex from its construction to its destruction, except between unlock() and lock().
class ABSL_SCOPED_LOCKABLE mutex_lock {
 public:
  explicit mutex_lock(mutex& m) ABSL_EXCLUSIVE_LOCK_FUNCTION(m) : inner_(m.inner_) {}
  mutex_lock(const mutex_lock&) = delete;
  mutex_lock& operator=(const mutex_lock&) = delete;
  ~mutex_lock() ABSL_UNLOCK_FUNCTION() {}

  void lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { inner_.lock(); }
  void unlock() ABSL_UNLOCK_FUNCTION() { inner_.unlock(); }
  /// For std::condition_variable: `while (!ready_) changed_.wait(lock.inner());`. The mutex is locked after the wait, as
  /// it was before.
  std::unique_lock<std::mutex>& inner() { return inner_; }

 private:
  std::unique_lock<std::mutex> inner_;
};

}  // namespace sluice::lib
