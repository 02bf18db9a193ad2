// SPDX-License-Identifier: Apache-2.0
// A task that any thread can stop: a handler whose client may go away, or a server until it is closed.
//
//   stoppable_task serving;
//   co_await serving.run(accept_all());      // returns when the task has ended; `cancelled` of stop() is not an error
//   serving.stop();                          // any thread, also before run() or after it
#pragma once

#include <atomic>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/scope.hpp"

namespace sluice::lib {

class stoppable_task {
 public:
  /// Runs `work` in a scope of its own. Errors: those of the work; `cancelled` if the environment was stopped.
  task<> run(task<> work) {
    task<> mine = std::move(work);
    environment* env = co_await this_environment();
    scope all(*env);
    attached here(*this, all);  // destroyed before the scope, also if join() throws
    all.spawn(std::move(mine));
    co_await all.join();
  }
  void stop() noexcept {
    mutex_lock lock(mutex_);
    stopped_.store(true, std::memory_order_release);
    if (scope_) scope_->request_stop();
  }
  bool is_stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }

 private:
  struct attached {
    attached(stoppable_task& o, scope& s) : of(o) {
      mutex_lock lock(of.mutex_);
      of.scope_ = &s;
      if (of.is_stopped()) s.request_stop();
    }
    attached(const attached&) = delete;
    ~attached() {
      mutex_lock lock(of.mutex_);
      of.scope_ = nullptr;
    }
    stoppable_task& of;
  };

  mutex mutex_;
  scope* scope_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // Written with the mutex; read without it by handlers that compute.
  std::atomic<bool> stopped_{false};
};

}  // namespace sluice::lib
