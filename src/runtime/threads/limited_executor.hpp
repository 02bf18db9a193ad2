// SPDX-License-Identifier: Apache-2.0
// The executor of a run with a cpu_budget or with workers of its own: at most `most` of its coroutines run at a time.
//
// It has no threads. Each of up to `most` runners is a coroutine of the executor `inner` that resumes one coroutine of
// the run, and then lets the other coroutines of `inner` run. A consumer that requests from the run on another thread is
// resumed by a runner, too (admits_caller), and stays with the run's runners until its next wait.
//
// Order:  coroutines of post() before those of post_later(), each in the order of their posts; every 16th time one of
//         post_later() is first, so that none starves.
// Thread: every member may be called from any thread.
// Owns:   its queue, jointly with its runners. `inner` outlives every coroutine that is posted.
#pragma once

#include <memory>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class limited_executor final : public executor {
 public:
  /// REQUIRES: most >= 1.
  limited_executor(executor& inner, unsigned most);

  void post(std::coroutine_handle<> h) noexcept override;
  void post_later(std::coroutine_handle<> h) noexcept override;
  /// One worker shares nothing.
  bool worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) noexcept override;
  bool on_worker() const noexcept override;
  /// Returns true on a thread that runs one of the runners.
  bool admits_caller() const noexcept override;
  driven drive() override;
  std::string_view complaint() const noexcept override;

 private:
  class queue;
  std::shared_ptr<queue> queue_;
};

}  // namespace sluice::lib
