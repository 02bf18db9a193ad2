// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/sync_wait.hpp"

#include <condition_variable>
#include <mutex>
#include <string>

namespace sluice::lib::detail {

/// The waiting thread may destroy it as soon as wait() has returned, or is_set() has returned true.
class completion {
 public:
  // Notified while locked: the waiting thread cannot return from wait(), and destroy this object, before the lock is
  // released.
  void set() {
    std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool is_set() const {
    std::lock_guard lock(mutex_);
    return set_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return set_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

void set(completion& done) noexcept { done.set(); }

void root_frame::run(environment& env) {
  if (env.exec->on_worker())
    throw error(failed_precondition_error("sync_wait on a worker thread would block it; co_await the task instead"));
  completion done;
  handle_.promise().env = &env;
  handle_.promise().done = &done;
  env.exec->post(handle_);
  while (!done.is_set()) {
    auto step = env.exec->drive();
    if (step == executor::driven::ran) continue;
    if (step == executor::driven::stuck) throw error(failed_precondition_error(env.exec->complaint()));
    done.wait();
  }
}

}  // namespace sluice::lib::detail
