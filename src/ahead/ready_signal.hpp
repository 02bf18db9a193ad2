// SPDX-License-Identifier: Apache-2.0
// Reports to a reader of several channels which of them have a block for it, and resumes the reader when it waits for
// any of them.
#pragma once

#include <coroutine>
#include <cstdint>
#include <memory>
#include <vector>

#include "coro/trace_log.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/this_stage.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// One coroutine waits for any of several channels, and learns which of them called. Thread: notify() from anywhere.
class ready_signal {
 public:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  explicit ready_signal(std::shared_ptr<run_context> run) : run_(std::move(run)) {}
  /// `who`: the number of the channel, for callers().
  void notify(std::uint32_t who) noexcept {
    mutex_lock lock(mutex_);
    ++count_;
    if (who < called_.size() && !called_[who]) {
      called_[who] = true;
      callers_.push_back(who);  // has room for all
    }
    if (waiting_) run_->exec->post(std::exchange(waiting_, {}));
  }
  /// Returns the number of notify() calls. Call it before you check the channels.
  std::uint64_t count() const {
    mutex_lock lock(mutex_);
    return count_;
  }
  /// From now on the calls of channels with numbers below `n` are recorded.
  void remember(std::uint32_t n) {
    mutex_lock lock(mutex_);
    called_.resize(n);
    callers_.reserve(n);
  }
  /// Passes each channel that has called since the last take_callers() to `to.add()`.
  template <class To> void take_callers(To& to) {
    mutex_lock lock(mutex_);
    for (std::uint32_t who : callers_) {
      called_[who] = false;
      to.add(who);
    }
    callers_.clear();
  }
  class [[nodiscard]] awaiter {
   public:
    awaiter(ready_signal& s, std::uint64_t seen, wait_reason why) noexcept : signal_(s), seen_(seen), why_(why) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> h) {
      stage_ = stage_of(&h.promise());
      began_ = signal_.run_->time->now();
      return signal_.wait(h, seen_);
    }
    void await_resume() const {
      if (!stage_) return;
      const time_point now = signal_.run_->time->now();
      stage_->waited(now - began_, why_);
      if (tracing()) trace_wait(*stage_, why_, began_, now);
    }

   private:
    ready_signal& signal_;
    std::uint64_t seen_;
    wait_reason why_;
    stage_base* stage_ = nullptr;  // the stage that waits
    time_point began_{};
  };
  /// Waits until notify() has been called since count() returned `seen`. A stop notifies too, through the channels.
  awaiter changed_since(std::uint64_t seen, wait_reason why = wait_reason::input) noexcept {
    return {*this, seen, why};
  }

 private:
  bool wait(std::coroutine_handle<> h, std::uint64_t seen) {
    mutex_lock lock(mutex_);
    if (count_ != seen) return false;
    waiting_ = h;
    return true;
  }

  std::shared_ptr<run_context> run_;
  mutable mutex mutex_;
  std::uint64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<bool> called_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> callers_ ABSL_GUARDED_BY(mutex_);
  std::coroutine_handle<> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib
