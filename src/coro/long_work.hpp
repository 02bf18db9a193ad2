// SPDX-License-Identifier: Apache-2.0
// For a task that works for long without waiting: others have their turn meanwhile, and a stop ends it.
//
//   long_work work;                       // a local of the task
//   while (…) {
//     …some 100 µs of work, 3 ms at most…
//     co_await work.breath();             // a nanosecond; now and then a look at the clock
//   }
//
// For tasks what outlet::breath() is for stages: a look at the clock every 64 breaths, or every half millisecond where the
// work between two takes longer; after 2 ms of work the task goes to the back of the executor's queue.
// Errors: cancelled, after a stop of the run.
// Thread: behind a breath the task may be on another worker. A consumer on a thread of its own stays there.
#pragma once

#include <cstdint>

#include "sluice/coro/promise.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/coro/turn.hpp"

namespace sluice::lib {

class long_work {
 public:
  class [[nodiscard]] breath_awaiter {
   public:
    explicit breath_awaiter(turn& t) noexcept : turn_(&t) {}
    bool await_ready() const noexcept { return !turn_->step(); }
    template <class Promise> std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) noexcept {
      promise_ = &h.promise();
      return look_around(*turn_, *promise_);
    }
    void await_resume() const {
      if (promise_) promise_->throw_if_failed();
    }

   private:
    turn* turn_;
    promise_base* promise_ = nullptr;  // null: there was no look
  };
  breath_awaiter breath() noexcept { return breath_awaiter(turn_); }

 private:
  /// Returns whom to resume: `p`; or nobody, because `p` has been posted.
  static std::coroutine_handle<> look_around(turn& t, promise_base& p);

  turn turn_;
};

/// Calls `part(from, to)` for one part of [0, n) after the other, of `step` numbers each, with a breath behind each. `part`
/// returns true to go on. It, what it refers to and `work` must outlive the task.
template <class Part> task<void> in_steps(long_work& work, std::uint64_t n, std::uint64_t step, Part part) {
  for (std::uint64_t from = 0; from < n;) {
    std::uint64_t to = n - from > step ? from + step : n;
    if (!part(from, to)) break;
    from = to;
    co_await work.breath();
  }
}

}  // namespace sluice::lib
