// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/sync_wait.hpp"

#include <condition_variable>
#include <coroutine>
#include <exception>
#include <string>

#include "sluice/base/mutex.hpp"

namespace sluice::lib::detail {
namespace {

/// An event that one thread sets and another waits for. The waiting thread may destroy it as soon as wait() has
/// returned, or is_set() has returned true.
class completion {
 public:
  // Notified while locked: the waiting thread cannot return from wait(), and destroy this object, before the lock is
  // released.
  void set() {
    mutex_lock lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  bool is_set() const {
    mutex_lock lock(mutex_);
    return set_;
  }
  void wait() {
    mutex_lock lock(mutex_);
    changed_.wait(lock.inner(), [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return set_; });
  }

 private:
  mutable mutex mutex_;
  std::condition_variable changed_;
  bool set_ ABSL_GUARDED_BY(mutex_) = false;
};

/// The coroutine that awaits the task of a sync_wait. No coroutine awaits it; it sets a completion when it ends.
class root_frame {
 public:
  struct promise_type : promise_base, pooled_frame {
    completion* done = nullptr;
    root_frame get_return_object() noexcept {
      auto h = std::coroutine_handle<promise_type>::from_promise(*this);
      self = h;
      return root_frame(h);
    }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> h) const noexcept {
        h.promise().done->set();  // from here on the waiting thread may destroy the frame
      }
      void await_resume() const noexcept {}
    };
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };

  explicit root_frame(std::coroutine_handle<promise_type> h) noexcept : handle_(h) {}
  root_frame(const root_frame&) = delete;
  root_frame& operator=(const root_frame&) = delete;
  ~root_frame() { handle_.destroy(); }
  /// Posts the coroutine to the executor and blocks until it has ended. At most once.
  void run(environment& env);

 private:
  std::coroutine_handle<promise_type> handle_;
};

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

/// Starts a task, and leaves its result or error in its promise (as task::as_result, but knows no type).
class end_of_task {
 public:
  explicit end_of_task(promise_base& work) noexcept : work_(work) {}
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<root_frame::promise_type> h) noexcept {
    root_ = &h.promise();
    root_->catching = true;
    work_.waiter = root_;
    work_.env = root_->env;
    return work_.self;
  }
  void await_resume() const noexcept { root_->catching = false; }

 private:
  promise_base& work_;
  promise_base* root_ = nullptr;
};

root_frame await(promise_base* work) {
  end_of_task end(*work);
  co_await end;
}

}  // namespace

void run_to_end(environment& env, promise_base& work) { await(&work).run(env); }

}  // namespace sluice::lib::detail
