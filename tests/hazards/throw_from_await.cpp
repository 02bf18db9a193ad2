// SPDX-License-Identifier: Apache-2.0
// An exception out of await_resume destroys arguments, temporaries and locals once each, innermost first, and the catcher
// goes on. g++ 12.2 is right about it; errors in tasks rest on that (docs/internals/decisions/errors_in_tasks.md).
#include <stdexcept>
#include <string>

#include "trace.hpp"

inline std::string order;

struct noted : counted {
  char name;
  explicit noted(char n) : counted(n), name(n) {}
  noted(noted&& o) noexcept : counted(std::move(o)), name(std::exchange(o.name, '\0')) {}
  ~noted() {
    if (name) order += name;
  }
};

struct step {
  struct promise_type {
    std::coroutine_handle<> waiter = std::noop_coroutine();
    std::exception_ptr thrown;
    step get_return_object() { return step{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct leave {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        return h.promise().waiter;
      }
      void await_resume() noexcept {}
    };
    leave final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { thrown = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit step(std::coroutine_handle<promise_type> h) : handle(h) {}
  step(step&& o) noexcept : handle(std::exchange(o.handle, {})) {}
  ~step() {
    if (handle) handle.destroy();
  }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
    handle.promise().waiter = h;
    return handle;
  }
  int await_resume() {
    if (handle.promise().thrown) std::rethrow_exception(handle.promise().thrown);
    return 0;
  }
};

step inner(noted argument) {
  noted local('i');
  (void)argument;
  throw std::runtime_error("inner");
  co_return;
}
step middle() {
  noted local('m');
  noted given('a');
  auto x = co_await inner(std::move(given));
  order += 'X';
  (void)x;
}
step outer(int& caught) {
  noted local('o');
  for (int k = 0; k < 2; ++k) {
    try {
      noted kept('t');
      co_await middle();
    } catch (const std::runtime_error&) { ++caught; }
    order += ' ';
  }
}

int main() {
  int caught = 0;
  {
    auto t = outer(caught);
    t.handle.resume();
  }
  return verdict(caught == 2 && lives == 0 && order == "iamt iamt o", order.c_str());
}
