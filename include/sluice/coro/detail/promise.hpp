// SPDX-License-Identifier: Apache-2.0
// The base class of all promise types of the library, and the protocol by which errors leave coroutines.
//
// Tasks. In a task, and in a user's stage, an operation that fails throws at its co_await: another task, a sleep, a
// channel, when_all, a scope's join. So try, catch and destructors work as in any C++ function.
//
// Stages. Between stages errors do not throw but *unwind*. When the input of a stage fails, the status moves along the
// `waiter` links, from each stage to the one that waits for it, up to the first coroutine that accepts it: a task, or a
// stage that requested with try_next. That coroutine is resumed. Every stage between has ended: it stays suspended at
// its co_await, with the status in `failure`, until its owner destroys it. Its local variables are destroyed then, when
// the consumer destroys the stream. So a damaged record costs a few nanoseconds for each stage that it passes, and
// stages need neither a macro nor a `try` (docs/internals/decisions/errors_in_tasks.md).
//
// Implementing an awaiter. await_suspend stores the awaiting promise. An operation that fails calls fail_wait(), which
// returns the coroutine to resume, and await_resume throws:
//
//   class read_some {
//    public:
//     bool await_ready() const noexcept { return false; }
//     template <class P> void await_suspend(std::coroutine_handle<P> h) {
//       waiting_ = &h.promise();                              // any promise of the library is a promise_base
//       start_read(this);                                     // from here on finished() may run on another thread
//     }
//     std::size_t await_resume() const {
//       waiting_->throw_if_failed();
//       return bytes_;
//     }
//     void finished(status why, std::size_t bytes) {          // called once, on any thread
//       bytes_ = bytes;
//       executor* exec = waiting_->env->exec;                 // read first: after the post this object may be gone
//       exec->post(why.ok() ? waiting_->self : fail_wait(waiting_, why));
//     }
//
//    private:
//     promise_base* waiting_ = nullptr;
//     std::size_t bytes_ = 0;
//   };
//
// An operation that a stop should end also arms a detail::stop_hook (coro/stop_token.hpp), as sleep_until does.
//
// Thread: a promise is accessed by the thread on which its coroutine is running, or, while the coroutine is suspended,
//         by the thread that will resume it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <utility>

#include "sluice/base/status.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct stage_counts;

/// The effect on a coroutine when an operation that it awaits fails.
enum class on_failure : std::uint8_t {
  throws,                ///< tasks and all other coroutines that are not stages: the co_await throws
  throws_but_for_input,  ///< a user's stage: the co_await throws, but an error of an input stream unwinds the stage
  unwinds,               ///< a stage of the library: it is not resumed, unless it is `catching`
};

struct promise_base {
  /// The coroutine that awaits this one, and is resumed when this one has a result. Null if not awaited yet, or
  /// detached.
  promise_base* waiter = nullptr;
  std::coroutine_handle<> self;
  environment* env = nullptr;  ///< inherited from the waiter at the first await; outlives the coroutine
  /// The status that the coroutine ended with. Before its end: the error that its pending co_await will throw.
  status failure;
  /// The pending co_await returns a status instead of failing (try_next, as_result). Set when the coroutine suspends,
  /// and cleared by the awaiter's await_resume.
  bool catching = false;
  on_failure on_error = on_failure::throws;  ///< never changed after construction

  promise_base() = default;
  explicit promise_base(on_failure f) noexcept : on_error(f) {}
  bool is_task() const noexcept { return on_error == on_failure::throws; }
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;
  /// Called by unwind() on each stage that the status in `failure` ends. If the stage has made output that is not
  /// delivered yet, it delivers that output first: it returns the handle to resume, the status does not move further,
  /// and the next request on the stage fails with `failure`. Returns null if no such output exists. May replace
  /// `failure` by the status of an error that comes earlier in the stream.
  virtual std::coroutine_handle<> flush() noexcept { return {}; }
  /// The counters of the stage for which this task works beside it (a call of a parallel map); null: it is no such task.
  virtual stage_counts* counts_of_task() const noexcept { return nullptr; }
  /// Throws the status that the wait failed with, if it failed. Every awaiter that uses fail_wait() calls it in
  /// await_resume.
  void throw_if_failed() {
    if (!failure.ok()) [[unlikely]]
      throw_failure();
  }

 protected:
  ~promise_base() = default;

 private:
  [[noreturn]] void throw_failure();
};

/// Ends the stage `p` with the status `why`, and every stage that waits for it, up to the first coroutine that accepts
/// the status: a task, or a coroutine that is `catching`. Returns the coroutine to resume: that coroutine, or the
/// consumer of a stage on the way that must deliver output first. REQUIRES: all of these coroutines are suspended.
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

/// Reports to `p` that the operation it awaits (anything except a request on an input stream) has failed with `why`.
/// Returns the coroutine to resume, on p's executor: `p`, whose awaiter then throws in await_resume (throw_if_failed),
/// or, if `p` is a stage of the library, the coroutine that accepts the unwinding status.
inline std::coroutine_handle<> fail_wait(promise_base* p, status why) noexcept {
  if (p->on_error == on_failure::unwinds) return unwind(p, std::move(why));
  p->failure = std::move(why);
  return p->self;
}

/// Returns the coroutine to resume after the final suspend point of the stage `p`: its waiter, or, if the stage has
/// failed, the coroutine that accepts the unwinding status.
inline std::coroutine_handle<> leave(promise_base* p) noexcept {
  promise_base* w = p->waiter;
  if (!w) return std::noop_coroutine();
  if (!p->failure.ok() && !w->catching && !w->is_task()) return unwind(p, p->failure);
  return w->self;
}

/// Does for a task what leave() does for a stage. The task's awaiter throws in a task and in a user's stage; a stage of
/// the library that awaits it unwinds.
inline std::coroutine_handle<> leave_task(promise_base* p) noexcept {
  promise_base* w = p->waiter;
  if (!w) return std::noop_coroutine();
  if (!p->failure.ok() && !w->catching && w->on_error == on_failure::unwinds) return unwind(p, p->failure);
  return w->self;
}

/// `co_await fail(why)` in a stage of the library ends the stage with the status and does not return. In a task, and in
/// a user's stage, it throws `error(why)`.
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

// The public names.
using lib::fail;

}  // namespace sluice
