// SPDX-License-Identifier: Apache-2.0
// Permits that limit how many of the pumps of an interleave work at the same time. The limit is the knob `parallelism`.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>

#include "runtime/live_knob.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// Permits are granted in the order of the requests. Thread: any.
class pump_permits final : public knob_follower {
 public:
  /// `limit` belongs to the run. A lower value takes effect as pumps finish their current work.
  pump_permits(std::shared_ptr<run_context> run, const live_knob& limit) : run_(std::move(run)), limit_(limit) {}

  class [[nodiscard]] awaiter {
   public:
    explicit awaiter(pump_permits& p) noexcept : permits_(p) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) const {
      mutex_lock lock(permits_.mutex_);
      if (permits_.take()) return false;
      permits_.waiting_.push_back(h);
      return true;
    }
    void await_resume() const noexcept {}

   private:
    pump_permits& permits_;
  };
  awaiter acquire() noexcept { return awaiter(*this); }
  void release() noexcept {
    mutex_lock lock(mutex_);
    --at_work_;
    hand_out();
  }
  void knob_changed() noexcept override {
    mutex_lock lock(mutex_);
    hand_out();
  }

 private:
  bool take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (at_work_ >= limit_.get()) return false;
    ++at_work_;
    return true;
  }
  void hand_out() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (!waiting_.empty() && take()) {
      run_->exec->post(waiting_.front());
      waiting_.pop_front();
    }
  }

  std::shared_ptr<run_context> run_;
  const live_knob& limit_;
  mutex mutex_;
  std::int64_t at_work_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::coroutine_handle<>> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
