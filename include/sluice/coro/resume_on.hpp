// SPDX-License-Identifier: Apache-2.0
// Awaiters that move a coroutine to another executor, or behind the other ready coroutines of its own executor.
//
//   co_await resume_on(pool);      // the next line runs on a thread of `pool`
//   co_await yield_now();          // the other coroutines that are ready run first
//
// Both leave the coroutine's environment unchanged: after its next wait the environment's executor resumes it again.
// Cancel: neither is ended by a stop, and neither fails.
// Cost:   one post.
#pragma once

#include "sluice/coro/detail/promise.hpp"

namespace sluice::lib {

/// REQUIRES: `to` lives until the coroutine has been resumed.
class [[nodiscard]] resume_on {
 public:
  explicit resume_on(executor& to) noexcept : to_(&to) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { to_->post(h); }
  void await_resume() const noexcept {}

 private:
  executor* to_;
};

/// For tasks only. A stage's long loop calls outlet::breath() instead, which yields only when the loop's turn is over.
class [[nodiscard]] yield_now {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise> void await_suspend(std::coroutine_handle<Promise> h) const noexcept {
    h.promise().env->exec->post_later(h);
  }
  void await_resume() const noexcept {}
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::resume_on;
using lib::yield_now;

}  // namespace sluice
