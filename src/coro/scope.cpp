// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/scope.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice::lib {

/// The coroutine around one spawned task. Its frame frees itself at the end, and only then counts as gone: what join()
/// waited for is really over, arguments and locals included.
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
  live_.fetch_add(1, std::memory_order_relaxed);  // whoever spawns keeps the count above zero: nothing to order
  auto c = run(*this, std::move(work));
  env_.exec->post_later(c.handle);
}

void scope::request_stop() noexcept {
  env_.stopping.store(true, std::memory_order_relaxed);
  env_.tick.fetch_add(1, std::memory_order_release);  // whoever sees this tick sees the stop
  stop_.request_stop();
}

status scope::why() const {
  std::lock_guard lock(mutex_);
  return why_;
}

void scope::ended(status why) noexcept {
  if (!why.ok()) {
    bool echo = why.code() == status_code::cancelled && stop_.stop_requested();
    std::unique_lock lock(mutex_);
    bool first = why_.ok() && !echo;
    if (first) why_ = std::move(why);
    lock.unlock();
    if (first) request_stop();
  }
  if (!release()) return;
  auto next = conclude();
  env_.exec->post(next);
}

// acq_rel: the last one sees everything that the others did, and the joiner.
bool scope::release() noexcept { return live_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

std::coroutine_handle<> scope::conclude() noexcept {
  joined_ = true;
  promise_base* joiner = joiner_;
  status why = why_;  // nobody is left to change it
  if (why.ok() && parent_.stop.stop_requested()) why = cancelled_error();
  return why.ok() ? joiner->self : fail_wait(joiner, std::move(why));
}

}  // namespace sluice::lib
