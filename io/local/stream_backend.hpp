// SPDX-License-Identifier: Apache-2.0
// Reads pipes and terminals, on one thread for all of them.
//
// The other back ends cannot do this. A FIFO that no writer has opened yet reads as if it had ended. A thread of the
// pool that waits in read() for a keyboard cannot be cancelled, and serves no files meanwhile. poll() waits for the
// first writer, for all streams at once, and for cancellations.
// Cancel: ends a waiting read with ECANCELED. No bytes are lost: unread bytes stay in the pipe.
// Thread: any; the first read starts the thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <thread>
#include <vector>

#include "io/local/operation.hpp"

namespace sluice::lib::detail {

class stream_backend final : public backend {
 public:
  stream_backend() = default;
  /// Cancels the waiting reads.
  ~stream_backend() override;

  /// Accepts reads only; ignores `offset`.
  void submit(operation* op) noexcept override;
  void cancel(operation* op) noexcept override;
  std::string description() const override { return "streams"; }

 private:
  /// Starts the thread. Returns an errno, or 0.
  int start() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void wake() noexcept;
  void drain_event() noexcept;
  void serve() noexcept;
  bool take_arrivals() noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  std::vector<operation*> arrived_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> event_{-1};  ///< wakes the thread; created before the thread starts. A stop may use it at any time
  std::vector<operation*> waiting_;  ///< used by the thread only
};

}  // namespace sluice::lib::detail
