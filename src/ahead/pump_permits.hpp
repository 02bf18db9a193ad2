// SPDX-License-Identifier: Apache-2.0
// At most n pumps at work at a time: what limits the parallelism of an interleave.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

/// Limits how many pumps produce at once. First come, first served.
class pump_permits {
 public:
  pump_permits(std::shared_ptr<run_context> run, std::uint32_t n) : run_(std::move(run)), left_(n) {}
  class [[nodiscard]] awaiter {
   public:
    explicit awaiter(pump_permits& p) noexcept : permits_(p) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) const {
      std::lock_guard lock(permits_.mutex_);
      if (permits_.left_) {
        --permits_.left_;
        return false;
      }
      permits_.waiting_.push_back(h);
      return true;
    }
    void await_resume() const noexcept {}

   private:
    pump_permits& permits_;
  };
  awaiter acquire() noexcept { return awaiter(*this); }
  void release() {
    std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      ++left_;
      return;
    }
    run_->exec->post(waiting_.front());
    waiting_.pop_front();
  }

 private:
  std::shared_ptr<run_context> run_;
  std::mutex mutex_;
  std::uint32_t left_;
  std::deque<std::coroutine_handle<>> waiting_;
};

}  // namespace sluice::lib
