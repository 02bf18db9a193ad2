// SPDX-License-Identifier: Apache-2.0
// Carries operations out by blocking calls on threads of its own: works everywhere io_uring does not.
//
// Threads are started when an operation finds none idle, up to a limit, and stay until the end.
// Cancel: what has not started ends with ECANCELED; a call that has started is waited for.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <string>
#include <thread>
#include <vector>

#include "io/local/operation.hpp"

namespace sluice::lib::detail {

class thread_backend final : public backend {
 public:
  /// `why`: what to add to the description, as when io_uring was wanted.
  explicit thread_backend(unsigned threads_max, std::string why = {});
  /// Carries out what was submitted, then joins.
  ~thread_backend() override;

  void submit(operation* op) noexcept override;
  void cancel(operation*) noexcept override {}  // the flag it sets is seen when the operation's turn comes
  std::string description() const override;

 private:
  void serve() noexcept;
  bool enqueue(operation* op) noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  void start_thread() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  operation* take() noexcept ABSL_LOCKS_EXCLUDED(mutex_);
  bool wanted() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return first_ != nullptr || closing_; }

  const unsigned threads_max_;
  const std::string why_;
  absl::Mutex mutex_;
  operation* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  operation* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  unsigned idle_ ABSL_GUARDED_BY(mutex_) = 0;
  unsigned queued_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

/// Carries `op` out on this thread; returns its outcome.
std::int64_t carry_out(operation& op) noexcept;

}  // namespace sluice::lib::detail
