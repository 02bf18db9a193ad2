// SPDX-License-Identifier: Apache-2.0
// Structured concurrency: what is spawned here is joined here.
//
//   scope s(*co_await this_environment());         // or any environment that outlives it
//   s.spawn(pump(input));
//   s.spawn(decode(input, output));
//   co_await s.join();                             // all have ended; throws the first error
//
// Errors: the first error is kept and stops the siblings; join() throws it when all have ended. `cancelled` that
//         comes after it, or after request_stop(), is the stop's own doing and is not an error.
// Cancel: the scope has a stop of its own, which follows the parent environment's. join() itself is not stopped: it
//         waits until the children have seen the stop. When the parent's stop ended them, join() throws `cancelled`.
// Thread: spawn() and request_stop() from anywhere, as long as the scope is not joined. Tasks start on the executor.
// Owns:   the tasks. The destructor requires that join() has returned, and ends the program otherwise. So nothing that
//         can fail may be awaited between spawn() and join() in the coroutine that owns the scope: its exception would
//         leave the scope without the join. Put such things into children, or the whole into `with_scope`:
//
//   auto body = [](scope& s) -> task<> { s.spawn(pump()); co_await something_that_may_fail(); };
//   co_await with_scope(body);                      // the body is a child too; joined whatever happens
#pragma once

#include <atomic>
#include <mutex>

#include "sluice/coro/stop_token.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {

class scope {
 public:
  explicit scope(environment& parent);
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope();

  void spawn(task<> work);
  /// Tells the children to stop. Thread: any.
  void request_stop() noexcept;
  /// What the children run in: the parent's executor and clock, the scope's stop.
  environment& env() noexcept { return env_; }
  /// The first error so far.
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
  /// At most once. Nothing may be spawned from outside the children afterwards.
  join_awaiter join() noexcept { return join_awaiter(*this); }

 private:
  struct child;
  static child run(scope& s, task<> work);
  void ended(status why) noexcept;
  /// True: that was the last one.
  bool release() noexcept;
  /// What to resume when all have ended.
  std::coroutine_handle<> conclude() noexcept;

  environment& parent_;
  environment env_;
  std::stop_source stop_;
  promise_base* joiner_ = nullptr;
  std::atomic<std::size_t> live_{1};  ///< the children, and one for the join that is to come
  bool joined_ = false;
  mutable std::mutex mutex_;
  status why_;  ///< guarded by mutex_
  detail::stop_hook follow_parent_;
};

template <class Body> task<> with_scope(Body body) {
  environment* env = co_await this_environment();
  scope s(*env);
  auto first = body(s);
  s.spawn(std::move(first));
  co_await s.join();
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::scope;
using lib::with_scope;

}  // namespace sluice
