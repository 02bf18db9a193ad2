// SPDX-License-Identifier: Apache-2.0
// A thread that runs one job at a time for a simulation, and can stop in the middle of the job while the simulation runs
// others.
//
//   lane l;
//   l.start(job);      // runs `job` on the lane's thread; returns when it has ended, or has called pause()
//   l.resume();        // continues after pause(); returns in the same way
//
// The caller of start() and resume() waits, so only one thread of a simulation runs at any time. A thread is used instead
// of a switched stack, so that thread-local variables, the limits of stacks and the sanitizers work as usual.
// Thread: start() and resume() on the simulation's thread; pause() on the lane's own.
// Cost:   two switches between threads for each call, about 10 µs.
#pragma once

#include <condition_variable>
#include <functional>
#include <thread>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class lane {
 public:
  lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  /// REQUIRES: no job is paused.
  ~lane();

  /// REQUIRES: is_idle(). The job throws nothing.
  void start(std::function<void()> job);
  /// REQUIRES: is_paused().
  void resume();
  /// REQUIRES: called within the job.
  void pause();

  bool is_idle() const { return state_ == state::idle; }
  bool is_paused() const { return state_ == state::paused; }
  std::thread::id thread() const { return thread_.get_id(); }

 private:
  enum class state { idle, running, paused, ended };
  void work();
  void run_until_it_stops();

  std::function<void()> job_;
  state state_ = state::idle;  ///< changed only by the thread that has the turn
  mutex mutex_;
  std::condition_variable changed_;
  bool has_turn_ ABSL_GUARDED_BY(mutex_) = false;  ///< the lane's thread runs; otherwise the simulation's
  std::thread thread_;                             // last: it uses the members above
};

}  // namespace sluice::lib
