// SPDX-License-Identifier: Apache-2.0
// Structured concurrency: a scope owns the tasks that are spawned in it, and does not end before they have ended.
//
//   scope s(*co_await this_environment());         // or any environment that outlives it
//   s.spawn(pump(input));
//   s.spawn(decode(input, output));
//   co_await s.join();                             // all have ended; throws the first error
//
// Errors: the first error of a task stops the other tasks; join() throws it when all have ended. A task that fails with
//         `cancelled` because of that stop or of request_stop() does not count as failed.
// Cancel: the scope has its own stop token, which a stop of the parent environment also stops. A stop does not end
//         join(), which waits until all tasks have noticed the stop and ended. If the parent was stopped and no task
//         has failed in another way, join() throws `cancelled`.
// Thread: spawn() and request_stop() on any thread, until join() has finished. The tasks start on the executor's
//         workers; the coroutine that joins is resumed on the executor.
// Owns:   the tasks and their frames. REQUIRES for the destructor: join() has finished, or nothing was spawned;
//         otherwise it ends the program. So the coroutine that owns the scope must not await anything that can fail
//         between spawn() and join(), because the exception would destroy the scope before the join. Await such an
//         operation in a spawned task, or write the whole as the body of `with_scope`:
//
//   auto body = [](scope& s) -> task<> { s.spawn(pump()); co_await something_that_may_fail(); };
//   co_await with_scope(body);                      // the body is one of the tasks, so an error of it is joined, too
//
// A race: the first result ends the others.
//
//   task<> try_one(std::string host, scope& all, std::optional<reply>& first) {
//     auto r = co_await ask(host).as_result();
//     if (r.ok() && !first) first = std::move(*r);               // on one worker; on several, guard `first`
//     if (first) all.request_stop();                             // the others' waits end with `cancelled`
//   }
//
// Cost:   a pooled frame, a post and two atomic operations for each task.
#pragma once

#include <atomic>
#include <stop_token>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/stop_token.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

class scope {
 public:
  /// REQUIRES: `parent` outlives the scope.
  explicit scope(environment& parent);
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  /// Posts the task to the executor. After a stop the task still starts, and its first wait fails with `cancelled`.
  /// REQUIRES: join() was not called yet, or the caller is itself a task of this scope. Errors: std::bad_alloc.
  void spawn(task<> work);
  /// Stops all tasks of the scope, including tasks spawned later. Thread: any. May be called several times.
  void request_stop() noexcept;
  /// The environment of the tasks: the parent's executor and clock, the scope's own stop token.
  environment& env() noexcept { return env_; }
  /// The first error of a task so far; ok if no task has failed. Thread: any.
  status why() const;

  class [[nodiscard]] join_awaiter {
   public:
    explicit join_awaiter(scope& s) noexcept : scope_(s) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
      scope_.joiner_ = &h.promise();
      return scope_.release() ? scope_.conclude() : std::noop_coroutine();
    }
    void await_resume() const { scope_.joiner_->throw_if_failed(); }

   private:
    scope& scope_;
  };
  /// `co_await s.join()` returns when all tasks have ended and their frames are destroyed. May be called once.
  join_awaiter join() noexcept { return join_awaiter(*this); }

 private:
  struct child;
  static child run(scope& s, task<> work);
  void ended(status why) noexcept;
  /// Called by each task at its end, and once by join(). Returns true for the last of these calls, whose caller then
  /// resumes the result of conclude().
  bool release() noexcept;
  std::coroutine_handle<> conclude() noexcept;

  environment& parent_;
  environment env_;
  std::stop_source stop_;
  promise_base* joiner_ = nullptr;
  std::atomic<std::size_t> live_{1};  ///< number of calls of release() that are still to come
  bool joined_ = false;
  mutable mutex mutex_;
  status why_ ABSL_GUARDED_BY(mutex_);
  detail::stop_hook follow_parent_;
};

/// Calls body(s) with a new scope `s`, runs the returned task as a task of that scope, and joins the scope. `body` is
/// moved into the coroutine and lives until the scope is joined. Errors: the same as for join().
template <class Body> task<> with_scope(Body body) {
  environment* env = co_await this_environment();
  scope s(*env);
  auto first = body(s);
  s.spawn(std::move(first));
  co_await s.join();
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::scope;
using lib::with_scope;

}  // namespace sluice
