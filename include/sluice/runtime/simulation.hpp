// SPDX-License-Identifier: Apache-2.0
// A simulated executor, clock and pool of threads: everything runs on one thread, the next coroutine is drawn at random
// from a seed, and virtual time advances only when no coroutine is ready.
//
//   simulation world(seed);                       // print the seed: it allows repeating a failing test exactly
//   runtime rt(world);
//   auto out = sync_wait(rt, my_test(rt));        // a sleep of an hour takes no real time
//   world.elapsed();                              // the virtual time that has passed
//
// A simulation has no cores unless it gets some: only sleeps, timers and simulated devices take time, and spend() moves
// the one clock. With cores, coroutines compute at the same time, each on a core of its own:
//
//   simulation world(seed, {.cores = 4});
//   runtime rt(world);                            // has four workers
//   auto decode = [&world](int64 x) { world.spend(10ms); return x; };
//   … range(40) | map(decode, {.parallelism = 4}) …  takes 100 ms
//
// Order:  the next coroutine is any that is ready; if none is, time advances to the earliest timer. With cores it also
//         waits for an idle core, and those that no consumer waits for (executor::post_later) are resumed after the
//         others. Everything happens in the order of virtual time.
// Errors: if no coroutine is ready, no timer is armed and the task has not ended, sync_wait throws failed_precondition
//         with seed and time: a deadlock, detected at once.
// Thread: the thread that made it. Posting from another thread is a defect and ends the program. With cores, coroutines
//         and blocking calls run on threads of the simulation, one at a time.
#pragma once

#include <coroutine>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sluice/coro/sync_wait.hpp"
#include "sluice/runtime/blocking.hpp"

namespace sluice::lib {

class simulated_cores;
class timer_heap;

struct simulation_options {
  /// The number of coroutines that compute at the same time, and the number of workers of a runtime over this simulation.
  /// 0: computing takes no time, apart from spend().
  unsigned cores = 0;
};

class simulation final : public executor, public clock, public blocking_service {
 public:
  explicit simulation(std::uint64_t seed, simulation_options options = {});
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;
  ~simulation();

  std::uint64_t seed() const noexcept { return seed_; }
  duration elapsed() const noexcept { return now_.time_since_epoch(); }
  /// The next random number below `below`. The simulated files, network and metadata store draw their numbers here.
  std::uint64_t random(std::uint64_t below) noexcept;
  bool chance(double probability) noexcept;
  /// A hash of all choices so far. Two simulations of the same program with the same seed have the same trace.
  std::uint64_t trace() const noexcept { return trace_; }
  std::uint64_t steps() const noexcept { return steps_; }
  /// Computes for the time `work`. Without cores this advances the one clock: timers that become due meanwhile fire
  /// later, in order. With cores the other cores, timers and devices continue meanwhile, so the caller must not have
  /// locked a mutex that other coroutines lock. A blocking call may spend time as well; it occupies no core.
  void spend(duration work) noexcept;
  /// The sum of all times spent: the CPU time of the simulated program.
  duration spent() const noexcept { return spent_; }
  /// The number of cores; 0: none.
  unsigned cores() const noexcept;
  /// Sets a function that returns how long the next blocking call takes in virtual time; without one, no time.
  void delay_blocking_calls(std::function<duration()> draw) { blocking_delay_ = std::move(draw); }
  /// Sets a function that answers worth_sharing(); without one, the answer is drawn, or with cores is that of a runtime
  /// on an average machine. If it always returns true, every channel works ahead.
  void decide_sharing(std::function<bool()> answer) { sharing_ = std::move(answer); }
  /// An environment with this executor and clock, never stopped.
  environment& env() noexcept { return env_; }

  // executor
  void post(std::coroutine_handle<> h) noexcept override;
  void post_later(std::coroutine_handle<> h) noexcept override;
  bool on_worker() const noexcept override;
  /// Without cores it is drawn from the seed: code that is correct for either answer is correct at any cost.
  bool worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) noexcept override;
  driven drive() override;
  std::string_view complaint() const noexcept override { return complaint_; }
  // clock
  time_point now() const noexcept override { return now_; }
  void arm(timer_node& node) noexcept override;
  bool cancel(timer_node& node) noexcept override;
  // blocking_service
  void submit(blocking_call& call) override;

 private:
  struct delayed_call;
  using handles = std::vector<std::coroutine_handle<>>;
  /// Removes one of them, which the seed chooses.
  std::coroutine_handle<> draw_from(handles& ready);
  driven drive_cores();
  void fire_next_timer();
  void run(blocking_call& call);
  void note(std::uint64_t choice) noexcept;
  void check_thread() const noexcept;
  driven stuck();

  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  std::uint64_t trace_ = 0;
  std::uint64_t steps_ = 0;
  time_point now_{};
  duration spent_{};
  bool inside_ = false;
  handles ready_, later_;  ///< later_: those of post_later(), with cores
  std::unique_ptr<timer_heap> timers_;
  std::function<duration()> blocking_delay_;
  std::function<bool()> sharing_;
  std::string complaint_;
  environment env_;
  std::thread::id thread_;
  std::unique_ptr<simulated_cores> cores_;  ///< null: none
};

/// Runs a task to its end in the simulated world.
template <class T> T sync_wait(simulation& world, task<T> work) { return sync_wait(world.env(), std::move(work)); }

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::simulation;
using lib::simulation_options;

}  // namespace sluice
