// SPDX-License-Identifier: Apache-2.0
// The world a coroutine runs in: who resumes it, what time it is, whether to stop.
//
// Every promise of ours has a pointer to one environment and passes it to the coroutines it awaits, so nothing here is
// global or thread-local and two runs never see each other. `executor` and `clock` are two of the five seams
// (docs/architecture.md): the real ones are in runtime/, the simulated ones in runtime/simulation.hpp.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <stop_token>
#include <string_view>
#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>  // libstdc++'s durations and clocks; its <chrono> adds calendars, and with them streams
#else
#include <chrono>
#endif

namespace sluice {

/// Resumes coroutines. Thread: any thread may post.
class executor {
 public:
  /// `h` is resumed exactly once, later, on a thread of the executor; never inside this call.
  virtual void post(std::coroutine_handle<> h) noexcept = 0;
  /// As post, for work that nobody waits for yet (fresh tasks, producers): runs after what was posted.
  virtual void post_later(std::coroutine_handle<> h) noexcept { post(h); }
  /// Is the calling thread one of this executor's? Blocking waits refuse to run there.
  virtual bool on_worker() const noexcept { return false; }

  enum class driven : std::uint8_t { none, ran, stuck };
  /// Has a thread that waits do one step of the executor's work. `none`: the executor has threads of its own for that.
  /// `stuck`: nothing is ready and nothing will be, so waiting on would be for ever.
  virtual driven drive() { return driven::none; }
  /// What a stuck executor has to say.
  virtual std::string_view complaint() const noexcept { return {}; }

 protected:
  ~executor() = default;
};

/// A moment in the run's own time, which a simulation moves by hand.
using time_point = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
using duration = std::chrono::nanoseconds;

/// One pending wake-up; lives in the frame that sleeps. `fire` is called once, on any thread, unless cancelled.
struct timer_node {
  time_point due{};
  void (*fire)(timer_node&) noexcept = nullptr;
  std::size_t heap_index = ~std::size_t{0};  ///< the clock's own
};

/// Tells the time and wakes. Thread: safe from any thread.
class clock {
 public:
  virtual time_point now() const noexcept = 0;
  virtual void arm(timer_node& node) noexcept = 0;
  /// True: the node will never fire. False: it has fired, or is firing now.
  virtual bool cancel(timer_node& node) noexcept = 0;

 protected:
  ~clock() = default;
};

struct run_context;

/// Shared by every coroutine of one run; outlives them all.
struct environment {
  executor* exec = nullptr;
  clock* time = nullptr;
  std::stop_token stop;
  run_context* run = nullptr;  ///< the run this belongs to (runtime/run_context.hpp), also in a scope's own environment
  /// Read once per block by every stage. Bumped when marks are due (stream_base) and when a stop is requested.
  std::atomic<std::uint32_t> tick{0};
  std::atomic<bool> stopping{false};

  void request_marks() noexcept { tick.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace sluice
