// SPDX-License-Identifier: Apache-2.0
// The cores of a simulation. A core computes while virtual time passes: simulation::spend() pauses the core until its
// time has come, and meanwhile the others compute. Everything happens in the order of virtual time, so no coroutine sees
// an effect before its cause.
//
// Blocking calls run on threads of their own, as in a runtime. They do not occupy cores.
// Thread: those of the simulation, one at a time.
#pragma once

#include <coroutine>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/simulated/lane.hpp"
#include "sluice/coro/environment.hpp"
#include "sluice/runtime/blocking.hpp"

namespace sluice::lib {

class simulated_cores {
 public:
  static constexpr time_point kNever = time_point::max();

  explicit simulated_cores(unsigned n) : count_(n) {}

  unsigned size() const { return count_; }
  bool has_idle() const { return working_ < count_; }
  /// Returns true while a coroutine or a blocking call runs here; its thread is current_thread().
  bool is_running() const { return current_ != nullptr; }
  std::thread::id current_thread() const { return current_->on.thread(); }
  /// Returns true while a coroutine runs on a core.
  bool is_on_core() const { return current_ && !current_->is_call; }

  /// Resumes the coroutine on an idle core. Returns when it has suspended or the core has paused. REQUIRES: has_idle().
  void run(std::coroutine_handle<> h, const clock& time);
  /// Runs a blocking call, in the same way.
  void run(blocking_call& call);

  /// Pauses what runs here until resume() is called at this time. REQUIRES: is_running().
  void pause_until(time_point t);
  /// The earliest time at which something that has paused continues, and how many things continue then.
  struct next {
    time_point at = kNever;
    std::size_t count = 0;
  };
  next next_paused() const;
  /// Continues the choice-th of those things.
  void resume(std::size_t choice);

 private:
  struct place {
    explicit place(unsigned n) : number(n) {}
    const unsigned number;
    lane on;
    bool is_call = false;
    time_point until{};  ///< while it is paused
  };
  place& idle_place();
  template <class Work> void turn_of(place& p, const Work& work);

  const unsigned count_;
  unsigned working_ = 0;  ///< cores that run a coroutine, or have paused within one
  place* current_ = nullptr;
  std::vector<std::unique_ptr<place>> places_;
};

}  // namespace sluice::lib
