// SPDX-License-Identifier: Apache-2.0
// core_loop: the host of a core, which decides without I/O and clock. It passes events to the core one at a time, and does
// what the core asks for, in order.
//
//   class my_host final : public core_loop<my_core, my_event, my_action> {
//     void perform(my_action& a) override { … }          // starts tasks of the run, which call step() when they have ended
//   };
//
// Thread: any. An action may be performed on the thread of another event. perform() must not wait.
// Owns:   tasks that perform() starts share the ownership of the host, and end with the run.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/run_task.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/runtime/run_context.hpp"

namespace sluice::lib {

template <class Core, class Event, class Action>
class core_loop : public std::enable_shared_from_this<core_loop<Core, Event, Action>> {
 public:
  core_loop(std::shared_ptr<run_context> run, Core core) : run_(std::move(run)), core_(std::move(core)) {}
  core_loop(const core_loop&) = delete;
  virtual ~core_loop() = default;

  void step(Event event) {
    {
      mutex_lock lock(mutex_);
      core_.step(std::move(event), run_->time->now(), actions_);
      if (is_performing_) return;
      is_performing_ = true;
    }
    for (std::vector<Action> now; take(now); now.clear())
      for (Action& a : now) perform(a);
  }

 protected:
  virtual void perform(Action& a) = 0;
  /// Calls step(woken) at this time.
  template <class Woken> void wake_at(time_point when) { wake(run_, this->shared_from_this(), Woken{}, when); }
  /// REQUIRES: no event has come.
  void set_core(Core core) {
    mutex_lock lock(mutex_);
    core_ = std::move(core);
  }
  /// f(core), while no event is handled.
  template <class F> auto with_core(F f) const {
    mutex_lock lock(mutex_);
    return f(core_);
  }
  static task<> sleep_until_time(time_point when) {
    sleep_until resting(when);
    co_await resting;
  }
  std::shared_ptr<run_context> run_;

 private:
  template <class Woken>
  static run_task wake(std::shared_ptr<run_context>&, std::shared_ptr<core_loop> shared, Woken woken, time_point when) {
    auto me = std::move(shared);
    auto resting = sleep_until_time(when);
    const status why = co_await resting.as_result();
    if (why.ok()) me->step(Event{woken});
  }
  bool take(std::vector<Action>& to) {
    mutex_lock lock(mutex_);
    to.swap(actions_);
    is_performing_ = !to.empty();
    return is_performing_;
  }

  mutable mutex mutex_;
  Core core_ ABSL_GUARDED_BY(mutex_);
  std::vector<Action> actions_ ABSL_GUARDED_BY(mutex_);
  bool is_performing_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sluice::lib
