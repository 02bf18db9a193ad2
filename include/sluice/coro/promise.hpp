// SPDX-License-Identifier: Apache-2.0
// What all our coroutines have in common, and how an error leaves them.
//
// In a task, and in a user's stage, whatever fails throws at its co_await: another task, a sleep, a channel, when_all, a
// scope's join. So try, catch and destructors work as in any C++ function.
//
// Between stages an error does not throw. What a stage's input fails with walks the `waiter` links to the first coroutine
// that takes it (a task, or a stage that asked by try_next), leaves its status along the way and resumes that one. Every
// stage between stays suspended at its co_await until its owner destroys it: its destructors run when the reader drops the
// stream. So a damaged record costs nothing per stage that it passes, and stages need no macro and no `try`
// (docs/decisions/0013).
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "sluice/base/status.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

/// What an error of something awaited does to the coroutine that awaits it.
enum class on_failure : std::uint8_t {
  throws,                ///< a task, and whatever else is no stage
  throws_but_for_input,  ///< a user's stage: everything throws, except that errors of its input streams unwind it
  unwinds,               ///< a stage of the engine: it is not resumed, unless it is `catching`
};

struct promise_base {
  promise_base* waiter = nullptr;  ///< who co_awaits us; null: detached or not started
  std::coroutine_handle<> self;
  environment* env = nullptr;                ///< inherited from the waiter when we are first awaited
  status failure;                            ///< what it ended with; until then, what its pending co_await is to throw
  bool catching = false;                     ///< our pending co_await takes the status itself
  on_failure on_error = on_failure::throws;  ///< fixed when it is made

  promise_base() = default;
  explicit promise_base(on_failure f) noexcept : on_error(f) {}
  bool is_task() const noexcept { return on_error == on_failure::throws; }
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;
  /// Output that was made and not yet taken goes out before the status does. A handle: resume it instead of unwinding. May
  /// put another status into `failure`: of an error that comes before the one that is passing.
  virtual std::coroutine_handle<> flush() noexcept { return {}; }
  /// For await_resume of whatever fails by fail_wait(): throws what the wait failed with.
  void throw_if_failed() {
    if (!failure.ok()) [[unlikely]]
      throw_failure();
  }

 protected:
  ~promise_base() = default;

 private:
  [[noreturn]] void throw_failure();
};

/// Ends `p`, a stage, with `why`, and every stage that waits for it, up to the first coroutine that takes the status: a
/// task, or one that is `catching`. Returns whom to resume.
inline std::coroutine_handle<> unwind(promise_base* p, status why) noexcept {
  for (;;) {
    p->failure = why;
    if (auto taker = p->flush()) return taker;
    why = p->failure;
    p = p->waiter;
    if (!p) return std::noop_coroutine();
    if (p->catching || p->is_task()) return p->self;
  }
}

/// What `p` waits for (anything but an input stream) has failed: `p` is to be resumed and throws, or is unwound. Returns
/// whom to resume; the awaiter's await_resume() calls p->throw_if_failed().
inline std::coroutine_handle<> fail_wait(promise_base* p, status why) noexcept {
  if (p->on_error == on_failure::unwinds) return unwind(p, std::move(why));
  p->failure = std::move(why);
  return p->self;
}

/// Where control goes from the final suspend point of a stage.
inline std::coroutine_handle<> leave(promise_base* p) noexcept {
  promise_base* w = p->waiter;
  if (!w) return std::noop_coroutine();
  if (!p->failure.ok() && !w->catching && !w->is_task()) return unwind(p, p->failure);
  return w->self;
}

/// The same for a task, whose awaiter throws.
inline std::coroutine_handle<> leave_task(promise_base* p) noexcept {
  promise_base* w = p->waiter;
  if (!w) return std::noop_coroutine();
  if (!p->failure.ok() && !w->catching && w->on_error == on_failure::unwinds) return unwind(p, p->failure);
  return w->self;
}

/// `co_await fail(why)` ends a stage with a status, and does not return; in a task it is `throw error(why)`.
class [[nodiscard]] fail {
 public:
  explicit fail(status why) noexcept : why_(std::move(why)) {}
  bool await_ready() const noexcept { return false; }
  template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
    promise_ = &h.promise();
    return fail_wait(promise_, std::move(why_));
  }
  void await_resume() const { promise_->throw_if_failed(); }

 private:
  status why_;
  promise_base* promise_ = nullptr;
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::fail;

}  // namespace sluice
