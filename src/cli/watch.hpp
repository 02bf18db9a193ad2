// SPDX-License-Identifier: Apache-2.0
// A thread that looks on while the main thread waits for a run: interrupts and the progress line.
#pragma once

#include <functional>
#include <thread>

namespace sluice::cli {

/// From the constructor on SIGINT and SIGTERM come here instead of ending the program; a second one ends it at once.
/// Make it before any other thread, which inherit the blocked signals.
class watch {
 public:
  watch();
  ~watch();
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;

  /// Thread: both are called on the watch's own thread, on_tick every 200 ms.
  void start(std::function<void()> on_interrupt, std::function<void()> on_tick);
  /// No call happens after this.
  void stop();

 private:
  void look();
  int signals_, done_;
  std::function<void()> on_interrupt_, on_tick_;
  std::thread thread_;
};

}  // namespace sluice::cli
