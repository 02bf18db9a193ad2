// SPDX-License-Identifier: Apache-2.0
// A thread that handles interrupts and the progress line while the main thread waits for a run.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>

#include <thread>

#include "sluice/base/mutex.hpp"

namespace sluice::lib::cli {

/// From the constructor on, SIGINT, SIGTERM and SIGHUP (unless that is ignored, as under nohup) are handled here
/// instead of ending the program. Until hold() or start(), a signal ends the program at once, with exit_status(): a run
/// that infers a schema has written nothing yet, and its reads cannot be interrupted. Between hold() and start(), a
/// signal is noted, and start() reports it. A second SIGINT or SIGTERM ends the program at once. Construct the watch
/// before any other thread starts, so that threads inherit the blocked signals.
class watch {
 public:
  watch();
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  /// From now on the program has files to remove, such as locks: a signal no longer ends it at once.
  void hold();
  /// Thread: both functions are called on the watch's own thread, on_tick every 200 ms. If a signal came after hold(),
  /// on_interrupt is called here.
  void start(std::function<void()> on_interrupt, std::function<void()> on_tick);
  /// No call happens after this.
  void stop();
  /// The same as in shells: 128 + the first signal.
  int exit_status() const { return 128 + first_signal_.load(); }
  /// Returns a descriptor that is readable from the first signal on, for callers that wait by poll.
  int interrupted_fd() const { return interrupted_; }

 private:
  void look();
  /// `asked`: an interrupt that counts towards the second has arrived before.
  void take(int signal, bool& asked);
  int signals_, done_, interrupted_;
  std::atomic<int> first_signal_{0};  ///< 0: none yet; written by the watch's thread
  lib::mutex mutex_;
  bool is_held_ ABSL_GUARDED_BY(mutex_) = false;  ///< a signal does not end the program at once
  std::function<void()> on_interrupt_ ABSL_GUARDED_BY(mutex_), on_tick_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace sluice::lib::cli
