// SPDX-License-Identifier: Apache-2.0
// The surroundings of a coroutine: an executor that resumes it, a clock, and the request to stop.
//
//   environment& env = *co_await this_environment();          // in a coroutine (coro/stop_token.hpp)
//   time_point now = env.time->now();
//
// Every promise of the library has a pointer to one environment. An awaited coroutine inherits the pointer of the
// coroutine that awaits it. So nothing here is global or thread-local, and two runs never see each other's environment.
// `executor` and `clock` are two of the seams (docs/architecture.md): interfaces to the outside world that have a
// real implementation (runtime/scheduler.hpp, the runtime's timers) and a simulated one (runtime/simulation.hpp).
//
// A program that has its own loop can resume coroutines there, with its own executor:
//
//   class my_loop final : public executor {
//    public:
//     void post(std::coroutine_handle<> h) noexcept override {
//       std::lock_guard lock(mutex_);
//       ready_.push_back(h);                                     // on any thread, also while run_once() resumes
//     }
//     void run_once() {
//       std::vector<std::coroutine_handle<>> ready;
//       {
//         std::lock_guard lock(mutex_);
//         ready.swap(ready_);
//       }
//       for (auto h : ready) h.resume();
//     }
//    …
//   };
//   co_await resume_on(loop);                                  // the next line runs in run_once() (coro/resume_on.hpp)
//
// Owns:   nothing. Executor, clock and run are owned by the runtime, and outlive every coroutine that uses them.
// Thread: `executor`, `clock` and the atomics of `environment` may be used from any thread. The other members are set
//         before the first coroutine of the environment is resumed, and not changed afterwards.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string_view>
#if __has_include(<bits/chrono.h>)
#include <bits/chrono.h>  // libstdc++'s durations and clocks; its <chrono> adds calendars, and with them streams
#else
#include <chrono>
#endif

#include "sluice/coro/stop_signal.hpp"

namespace sluice::lib {

/// Data that one core writes and another reads.
struct moved_data {
  std::size_t bytes = 0;
  std::size_t owners = 0;  ///< elements that own memory, which one core allocates and the other frees
};

/// Resumes suspended coroutines on its own threads.
/// Thread: every member may be called from any thread.
class executor {
 public:
  /// Schedules `h`: it is resumed exactly once, on a thread of the executor, and never inside this call.
  /// REQUIRES: `h` is suspended, and nothing else resumes or destroys it. After this call the coroutine may already be
  /// running on another thread, or have ended, so the caller must not access its frame.
  virtual void post(std::coroutine_handle<> h) noexcept = 0;
  /// Does what post does, with lower priority: for coroutines that no consumer is waiting for yet (new tasks, producers
  /// that work ahead) and for coroutines that let others run first. Coroutines scheduled by post() are resumed before
  /// them if possible.
  virtual void post_later(std::coroutine_handle<> h) noexcept { post(h); }
  /// Returns true if work that takes `took` is worth giving to another thread, when these data then move from one core's
  /// cache to the other's. An executor that cannot decide returns true.
  virtual bool worth_sharing(std::chrono::nanoseconds took, const moved_data& moved) noexcept {
    (void)took, (void)moved;
    return true;
  }
  /// Returns true if the calling thread belongs to this executor. Blocking calls (sync_wait) refuse to run on such a
  /// thread, because the coroutine that they wait for may need it.
  virtual bool on_worker() const noexcept { return false; }

  /// Returns true if a consumer on this thread may run stages of the executor's runs itself. If false, the first stage
  /// that it requests from is posted (runtime/threads/limited_executor.hpp).
  virtual bool admits_caller() const noexcept { return true; }

  enum class driven : std::uint8_t {
    none,  ///< the executor has threads of its own; the caller should block until it is notified
    ran,   ///< one coroutine was resumed, or the virtual clock has advanced; call again
    /// no coroutine is ready and no timer is armed, so nothing will ever happen; complaint() describes this
    stuck,
  };
  /// Called repeatedly by a thread that waits for a task (sync_wait). Does one step of the executor's work on the
  /// calling thread, if the executor has no threads of its own, such as the simulation.
  virtual driven drive() { return driven::none; }
  /// After driven::stuck: the text of the error that the waiting thread throws. Valid until the next call of drive().
  virtual std::string_view complaint() const noexcept { return {}; }

 protected:
  ~executor() = default;
};

/// A moment on the clock of an environment: the steady clock, or the virtual time of a simulation.
using time_point = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
using duration = std::chrono::nanoseconds;

/// One timer of a clock. It is a member of the waiting object (usually an awaiter), so that arming it allocates
/// nothing.
struct timer_node {
  time_point due{};
  /// Called once, on any thread, when `due` has come, unless the node was cancelled before.
  void (*fire)(timer_node&) noexcept = nullptr;
  std::size_t heap_index = ~std::size_t{0};  ///< used by the clock only
};

/// Returns the time, and calls timers when they are due.
/// Thread: every member may be called from any thread, also from within `fire`.
class clock {
 public:
  virtual time_point now() const noexcept = 0;
  /// Arms a timer. REQUIRES: `due` and `fire` are set, the node is not armed, and it stays at its address until it has
  /// fired or cancel() has returned true.
  virtual void arm(timer_node& node) noexcept = 0;
  /// Disarms a timer. Returns true if it will never fire: the node may be destroyed. Returns false if it has fired or
  /// is firing at this moment: `fire` may still be accessing the node on another thread.
  virtual bool cancel(timer_node& node) noexcept = 0;

 protected:
  ~clock() = default;
};

class status;
struct run_context;
class error_sink;

/// The handle that an await_suspend returns after it has posted its coroutine to the executor. Resuming it does
/// nothing. Every call returns the same handle, so a caller can compare with it. An equal handle means that the
/// coroutine may already be running on another worker: neither the coroutine nor its tree may be accessed any more.
std::coroutine_handle<> gave_way() noexcept;

/// Shared by all coroutines of one run, or of one scope; outlives them.
struct environment {
  executor* exec = nullptr;
  /// Null only in tests of single parts: then no time is measured, and no marks are due.
  clock* time = nullptr;
  stop_signal stop;  ///< a wait that registers with it ends with `cancelled` when the run is stopped
  /// The run of this environment (runtime/run_context.hpp). Set in the environment of a scope, too.
  run_context* run = nullptr;
  error_sink* error_count = nullptr;  ///< counts the bad elements that the run drops (dropped_errors.hpp)
  /// Every stream compares it once per block. It is incremented when marks are due (stream_base.hpp) and when a stop is
  /// requested. Only a stream that sees a changed value looks for the reason.
  std::atomic<std::uint32_t> tick{0};
  /// Set, before `tick` is incremented, when a stop is requested.
  std::atomic<bool> stopping{false};
  /// Set when the runtime has ended and the run still has streams. `exec` and `time` are gone then.
  std::atomic<bool> is_homeless{false};
  /// The time of the last request for marks, and the time that recording marks has taken since then; nanoseconds of
  /// `time`.
  std::atomic<std::int64_t> marks_asked_at{0}, marks_took{0};

  /// Returns the error of a stream that is used after a stop: `cancelled`, which says whether the runtime is gone.
  status stop_error() const;

  /// Every stream that keeps marks records a new one before it requests its next block.
  void request_marks() noexcept { tick.fetch_add(1, std::memory_order_relaxed); }
  /// Requests marks if kMarkInterval has passed since the last request. Every stream calls it when it looks at the
  /// clock, because one stream may work for a long time while the consumer's stream requests nothing. Examples are the
  /// stream of a filter that drops all elements, and that of a pump that works ahead.
  void request_marks_by_time(time_point now) noexcept { request_marks_after(now, kMarkInterval); }
  /// Requests marks, unless recording the marks of the last request took more than 1/128 of the time since then
  /// (kMarkShare). The run's root calls it every 32 blocks.
  void request_marks_by_blocks(time_point now) noexcept { request_marks_after(now, duration(0)); }
  /// Records that making a mark took this long.
  void took_mark(duration took) noexcept { marks_took.fetch_add(took.count(), std::memory_order_relaxed); }

  /// The time between two requests for marks if blocks are slow. After a resume, each stage that keeps marks makes its
  /// elements since the last mark again, which takes about this long.
  static constexpr duration kMarkInterval = std::chrono::milliseconds(10);
  /// The interval is at least this many times as long as the marks of the last request took, so that they cost less
  /// than 1 %.
  static constexpr std::int64_t kMarkShare = 128;
  /// The longest interval, however expensive the marks are (with a thousand open files about 400 µs per request).
  static constexpr duration kMarkIntervalMax = std::chrono::milliseconds(100);

 private:
  void request_marks_after(time_point now, duration least) noexcept {
    std::int64_t t = now.time_since_epoch().count();
    const std::int64_t most = duration(kMarkIntervalMax).count();
    std::int64_t wait = marks_took.load(std::memory_order_relaxed) * kMarkShare;
    if (wait < least.count()) wait = least.count();
    if (wait > most) wait = most;
    // Relaxed: if two threads pass this check at once, marks are requested twice, which costs time and is otherwise
    //          harmless.
    if (t - marks_asked_at.load(std::memory_order_relaxed) < wait) return;
    marks_asked_at.store(t, std::memory_order_relaxed);
    marks_took.store(0, std::memory_order_relaxed);
    request_marks();
  }
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::environment;

}  // namespace sluice
