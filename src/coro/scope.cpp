// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/scope.hpp"

#include <cstdio>
#include <cstdlib>

#include "sluice/base/assert.hpp"

namespace sluice::lib {

/// The coroutine that awaits one spawned task. Its frame is destroyed automatically at its end, and reports that in the
/// promise's destructor: when join() returns, the arguments and locals of every task have been destroyed, too.
struct scope::child {
  struct promise_type : promise_base, detail::pooled_frame {
    scope* home;
    status result;
    explicit promise_type(scope& s, task<>&) noexcept : home(&s) { env = &s.env_; }
    ~promise_type() { home->ended(std::move(result)); }
    child get_return_object() noexcept {
      auto h = std::coroutine_handle<promise_type>::from_promise(*this);
      self = h;
      return {h};
    }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_value(status s) noexcept { result = std::move(s); }
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

scope::child scope::run(scope& s, task<> work) {
  (void)s;
  task<> mine = std::move(work);  // a local, not the parameter: locals are destroyed before the promise
  auto why = co_await mine.as_result();
  co_return why;
}

scope::scope(environment& parent) : parent_(parent) {
  env_.exec = parent.exec;
  env_.time = parent.time;
  env_.run = parent.run;
  env_.stop = stop_.get_token();
  follow_parent_.arm(parent.stop, [](void* self) noexcept { static_cast<scope*>(self)->request_stop(); }, this);
}

scope::~scope() {
  if (joined_ || live_.load(std::memory_order_acquire) == 1) return;
  std::fputs("sluice: a scope was destroyed while its tasks run; co_await join() first\n", stderr);
  std::abort();
}

void scope::spawn(task<> work) {
  SLUICE_REQUIRES(live_.load(std::memory_order_relaxed) != 0, "a task is spawned after join() has finished");
  // Relaxed: the count cannot reach zero meanwhile, because the spawning coroutine is counted or has not joined yet.
  live_.fetch_add(1, std::memory_order_relaxed);
  auto c = run(*this, std::move(work));
  env_.exec->post_later(c.handle);
}

void scope::request_stop() noexcept {
  env_.stopping.store(true, std::memory_order_relaxed);
  env_.tick.fetch_add(1, std::memory_order_release);  // a thread that reads this tick then reads `stopping` as true
  stop_.request_stop();
}

status scope::why() const {
  mutex_lock lock(mutex_);
  return why_;
}

void scope::ended(status why) noexcept {
  if (!why.ok()) {
    bool echo = why.code() == status_code::cancelled && stop_.stop_requested();
    mutex_lock lock(mutex_);
    bool first = why_.ok() && !echo;
    if (first) why_ = std::move(why);
    lock.unlock();
    if (first) request_stop();
  }
  if (!release()) return;
  auto next = conclude();
  env_.exec->post(next);
}

// acq_rel: the last caller, and the coroutine that it resumes, see the writes of all tasks.
bool scope::release() noexcept { return live_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

std::coroutine_handle<> scope::conclude() noexcept ABSL_NO_THREAD_SAFETY_ANALYSIS {
  joined_ = true;
  promise_base* joiner = joiner_;
  status why = why_;  // without the mutex: all tasks have ended
  if (why.ok() && parent_.stop.stop_requested()) why = cancelled_error();
  return why.ok() ? joiner->self : fail_wait(joiner, std::move(why));
}

}  // namespace sluice::lib
