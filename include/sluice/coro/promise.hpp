// SPDX-License-Identifier: Apache-2.0
// What all our coroutines have in common, and how an error leaves them.
//
// An error does not resume the coroutines it passes. It walks their `waiter` links to the first one that `catching`
// (asked for the status), stores the status along the way and resumes that one. Every frame between stays suspended at
// its co_await until its owner destroys it, top down: destructors run when the catcher drops the stream or task, not at
// the throw point. That is as cheap as success (measured: research, protocol §5) and needs no macro and no `try`.
#pragma once

#include <coroutine>
#include <utility>

#include "sluice/base/status.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice {

struct promise_base {
  promise_base* waiter = nullptr;  ///< who co_awaits us; null: detached or not started
  std::coroutine_handle<> self;
  environment* env = nullptr;  ///< inherited from the waiter when we are first awaited
  status failure;
  bool catching = false;  ///< our pending co_await takes the status itself

  promise_base() = default;
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;
  /// Output that was made and not yet taken goes out before the status does. A handle: resume it instead of unwinding.
  virtual std::coroutine_handle<> flush() noexcept { return {}; }

 protected:
  ~promise_base() = default;
};

/// Ends `p` with `why` and everything that waits for it, up to the first that catches; returns whom to resume.
inline std::coroutine_handle<> unwind(promise_base* p, status why) noexcept {
  for (;;) {
    p->failure = why;
    if (auto taker = p->flush()) return taker;
    p = p->waiter;
    if (!p) return std::noop_coroutine();
    if (p->catching) return p->self;
  }
}

/// Where control goes from the final suspend point of a coroutine.
inline std::coroutine_handle<> leave(promise_base* p) noexcept {
  if (!p->waiter) return std::noop_coroutine();
  if (!p->failure.ok() && !p->waiter->catching) return unwind(p, p->failure);
  return p->waiter->self;
}

/// `co_await fail(why)` ends the coroutine with a status; it does not return.
class [[nodiscard]] fail {
 public:
  explicit fail(status why) noexcept : why_(std::move(why)) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
    return unwind(&h.promise(), std::move(why_));
  }
  void await_resume() const noexcept {}

 private:
  status why_;
};

}  // namespace sluice
