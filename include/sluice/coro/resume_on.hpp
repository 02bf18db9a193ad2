// SPDX-License-Identifier: Apache-2.0
// Going elsewhere, or to the back of the queue.
//
//   co_await resume_on(pool);      // the next line runs on a thread of `pool`
//   co_await yield_now();          // lets everything else that is ready run first
//
// Both leave the environment as it is: the next wait resumes on its executor again.
#pragma once

#include "sluice/coro/promise.hpp"

namespace sluice::lib {

class [[nodiscard]] resume_on {
 public:
  explicit resume_on(executor& to) noexcept : to_(&to) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { to_->post(h); }
  void await_resume() const noexcept {}

 private:
  executor* to_;
};

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

// What users write.
using lib::resume_on;
using lib::yield_now;

}  // namespace sluice
