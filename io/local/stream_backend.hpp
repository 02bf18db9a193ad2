// SPDX-License-Identifier: Apache-2.0
// Reads what comes from pipes and terminals, on one thread for all of them.
//
// Neither other back end will do: a FIFO that nobody has opened for writing reads as if it had ended, and a thread of the
// pool that waits in read() for somebody's keyboard can neither be cancelled nor be had for files meanwhile. poll() waits
// for the first writer, for all streams at once, and for cancellations.
// Cancel: ends a read that waits, with ECANCELED. No bytes are lost: what is not read stays in the pipe.
// Thread: any; the thread is started by the first read.
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
  /// What still waits is cancelled.
  ~stream_backend() override;

  /// Reads only: `offset` is not looked at.
  void submit(operation* op) noexcept override;
  void cancel(operation* op) noexcept override;
  std::string description() const override { return "streams"; }

 private:
  /// An errno, or 0.
  int start() noexcept ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void wake() noexcept;
  void drain_event() noexcept;
  void serve() noexcept;
  bool take_arrivals() noexcept ABSL_LOCKS_EXCLUDED(mutex_);

  absl::Mutex mutex_;
  std::vector<operation*> arrived_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> event_{-1};       ///< wakes the thread; made before it starts. A stop may ask for it at any time
  std::vector<operation*> waiting_;  ///< the thread's own
};

}  // namespace sluice::lib::detail
