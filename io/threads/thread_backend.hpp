// SPDX-License-Identifier: Apache-2.0
// Executes operations by blocking calls on its own threads. It works on systems without io_uring.
//
// A thread is started if an operation finds none idle, up to a limit, and lives until the end.
// Cancel: an operation that has not started ends with ECANCELED; one that has started runs to its end.
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
  /// `why`: a text for the description, for example why io_uring is not used.
  explicit thread_backend(unsigned threads_max, std::string why = {});
  /// Executes the submitted operations, then joins the threads.
  ~thread_backend() override;

  void submit(operation* op) noexcept override;
  void cancel(operation*) noexcept override {}  // the operation's flag is checked before it starts
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

/// Executes `op` on this thread and returns its result.
std::int64_t carry_out(operation& op) noexcept;

}  // namespace sluice::lib::detail
