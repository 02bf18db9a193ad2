// SPDX-License-Identifier: Apache-2.0
// Runs a task on the test's own thread, for layers that stand left of the runtime's facilities.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "sluice/coro/task.hpp"

namespace sluice::lib::testing {

/// Resumes what is posted, on the thread that calls run(). Thread: post from any.
class queue_executor final : public executor {
 public:
  void post(std::coroutine_handle<> h) noexcept override {
    std::lock_guard lock(mutex_);
    ready_.push_back(h);
    changed_.notify_one();
  }
  /// Resumes one; waits for it.
  void step() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty(); });
    auto h = ready_.front();
    ready_.pop_front();
    lock.unlock();
    h.resume();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::coroutine_handle<>> ready_;
};

/// The result of `work`, run with `env` on this thread.
template <class T> auto run_task(environment& env, queue_executor& on, task<T> work) {
  env.exec = &on;
  struct root_promise final : promise_base {};
  root_promise root;
  bool done = false;
  // The root catches: its "coroutine" is a frame that only notes that it was resumed.
  struct note {
    struct promise_type {
      bool* done;
      note get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
      std::suspend_always initial_suspend() noexcept { return {}; }
      std::suspend_always final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> h;
  };
  auto noted = [](bool* d) -> note {
    *d = true;
    co_return;
  }(&done);
  root.env = &env;
  root.self = noted.h;
  root.catching = true;
  auto h = work.get();
  h.promise().waiter = &root;
  h.promise().env = &env;
  on.post(h);
  while (!done) on.step();
  noted.h.destroy();
  return h.promise().take();
}

}  // namespace sluice::lib::testing
