// SPDX-License-Identifier: Apache-2.0
// Threads for blocking calls: one for each call that blocks at the same time. Idle threads end after a while.
#pragma once

#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>
#include <vector>

#include "sluice/base/mutex.hpp"
#include "sluice/runtime/blocking.hpp"

namespace sluice::lib {

class blocking_pool final : public blocking_service {
 public:
  struct options {
    unsigned threads_max = 64;  ///< further calls queue: a slow mount must not use up all thread ids
    std::chrono::milliseconds idle_max{5000};
  };
  blocking_pool() : blocking_pool(options()) {}
  explicit blocking_pool(options o) : options_(o) {}
  /// Finishes the submitted calls first.
  ~blocking_pool();

  void submit(blocking_call& call) override;
  unsigned threads() const;

 private:
  void run(std::size_t slot);
  bool start_thread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  options options_;
  mutable mutex mutex_;
  std::condition_variable changed_;
  blocking_call* first_ ABSL_GUARDED_BY(mutex_) = nullptr;
  blocking_call* last_ ABSL_GUARDED_BY(mutex_) = nullptr;
  unsigned waiting_ ABSL_GUARDED_BY(mutex_) = 0;  ///< calls that no thread has taken
  unsigned idle_ ABSL_GUARDED_BY(mutex_) = 0;
  unsigned live_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::size_t> expired_ ABSL_GUARDED_BY(mutex_);  ///< slots of threads_ whose thread has ended
};

}  // namespace sluice::lib
