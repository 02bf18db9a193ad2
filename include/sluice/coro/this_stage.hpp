// SPDX-License-Identifier: Apache-2.0
// Finds the stage that a coroutine works for, and counts its waits.
//
//   stage_base* reader = co_await this_stage();         // in a task that a stage awaits, however far up
//   stage_wait waiting(reader, *run.time, wait_reason::disk);   // until the end of the block
//   co_await the_file;
//
// Thread: that of the coroutine; a coroutine that has waited counts its wait when it continues.
#pragma once

#include <coroutine>

#include "sluice/coro/stage.hpp"

namespace sluice::lib {

/// Returns the stage whose coroutine is `p`, or for which the task `p` works; null if there is no such stage.
inline stage_base* stage_of(promise_base* p) noexcept {
  while (p && p->is_task()) p = p->waiter;
  return static_cast<stage_base*>(p);
}

/// `co_await this_stage()` → stage_base*: stage_of() the awaiting coroutine, without suspending.
class [[nodiscard]] this_stage {
 public:
  bool await_ready() const noexcept { return false; }
  template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) noexcept {
    stage_ = stage_of(&h.promise());
    return false;
  }
  stage_base* await_resume() const noexcept { return stage_; }

 private:
  stage_base* stage_ = nullptr;
};

/// Counts its own lifetime as time that the stage has waited for something outside of its tree of streams.
class stage_wait {
 public:
  /// A null `stage` counts nothing.
  stage_wait(stage_base* stage, const clock& time, wait_reason why) noexcept
      : stage_(stage), time_(time), why_(why), began_(stage ? time.now() : time_point()) {}
  stage_wait(const stage_wait&) = delete;
  stage_wait& operator=(const stage_wait&) = delete;
  ~stage_wait() {
    if (stage_) stage_->waited(time_.now() - began_, why_);
  }

 private:
  stage_base* stage_;
  const clock& time_;
  wait_reason why_;
  time_point began_;
};

}  // namespace sluice::lib
