// SPDX-License-Identifier: Apache-2.0
// Pauses ("breaths") for tasks: points at which a long loop lets other coroutines of its worker run first, and at which
// a stop ends it.
//
//   long_work work;                       // a local of the task
//   while (…) {
//     …some 100 µs of work, 3 ms at most…
//     co_await work.breath();
//   }
//
// The counterpart of outlet::breath() for tasks. Every 64 breaths, or every half millisecond if the work between two
// breaths takes longer, a breath reads the clock. If the task has worked for 2 ms without a pause, it is posted to the
// end of the executor's queue.
// Errors: `cancelled`, after a stop of the run.
// Thread: after a breath the task may continue on another worker. A coroutine that is not on a worker of the executor,
//         such as a consumer on its own thread, is never posted.
// Cost:   a nanosecond; 25 ns if the breath reads the clock.
#pragma once

#include <cstdint>

#include "sluice/coro/detail/promise.hpp"
#include "sluice/coro/detail/turn.hpp"
#include "sluice/coro/task.hpp"

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
    promise_base* promise_ = nullptr;  // null: the breath did not read the clock
  };
  breath_awaiter breath() noexcept { return breath_awaiter(turn_); }

 private:
  /// Returns the coroutine to resume: the coroutine of `p`; none, if it has been posted; or, after a stop, the result
  /// of fail_wait.
  static std::coroutine_handle<> look_around(turn& t, promise_base& p);

  turn turn_;
};

/// Calls `part(from, to)` for consecutive parts of [0, n), `step` numbers each (the last one maybe fewer), with a
/// breath after each, until `part` returns false. REQUIRES: `work` and the objects that `part` refers to outlive the
/// task.
template <class Part> task<void> in_steps(long_work& work, std::uint64_t n, std::uint64_t step, Part part) {
  for (std::uint64_t from = 0; from < n;) {
    std::uint64_t to = n - from > step ? from + step : n;
    if (!part(from, to)) break;
    from = to;
    co_await work.breath();
  }
}

}  // namespace sluice::lib
