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

namespace sluice::lib {

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
class error_sink;

/// What await_suspend returns where it has posted the coroutine to its executor, which may be running it already: resumes
/// nothing. Always the same handle, so that a caller further up can tell that it must touch nothing of that coroutine.
std::coroutine_handle<> gave_way() noexcept;

/// Shared by every coroutine of one run; outlives them all.
struct environment {
  executor* exec = nullptr;
  clock* time = nullptr;
  std::stop_token stop;
  run_context* run = nullptr;  ///< the run this belongs to (runtime/run_context.hpp), also in a scope's own environment
  error_sink* error_count = nullptr;  ///< the run's count of errors that are passed over (dropped_errors.hpp)
  /// Read once per block by every stage. Bumped when marks are due (stream_base) and when a stop is requested.
  std::atomic<std::uint32_t> tick{0};
  std::atomic<bool> stopping{false};
  /// When marks were last asked for, and how long taking them has taken since, in nanoseconds of `time`.
  std::atomic<std::int64_t> marks_asked_at{0}, marks_took{0};

  /// Every keeper of marks takes a new one before its next block.
  void request_marks() noexcept { tick.fetch_add(1, std::memory_order_relaxed); }
  /// Requests marks where kMarkInterval has passed since the last request. Any stream calls it now and then: whoever
  /// works alone for long (a filter that keeps nothing, a pump that reads ahead) must not be without a mark for long.
  void request_marks_by_time(time_point now) noexcept { request_marks_after(now, kMarkInterval); }
  /// Requests marks where the consumer has asked for some blocks since (see stream_base).
  void request_marks_by_blocks(time_point now) noexcept { request_marks_after(now, duration(0)); }
  /// A mark was taken, which took so long.
  void took_mark(duration took) noexcept { marks_took.fetch_add(took.count(), std::memory_order_relaxed); }

  /// A resume makes again what was made since the last mark, level by level: so much work for each.
  static constexpr duration kMarkInterval = std::chrono::milliseconds(10);
  /// Marks of one request must not take more than this share of the time until the next: being resumable costs < 1 %.
  static constexpr std::int64_t kMarkShare = 128;
  /// But they are never further apart than this, however many streams are open.
  static constexpr duration kMarkIntervalMax = std::chrono::milliseconds(100);

 private:
  void request_marks_after(time_point now, duration least) noexcept {
    std::int64_t t = now.time_since_epoch().count();
    const std::int64_t most = duration(kMarkIntervalMax).count();
    std::int64_t wait = marks_took.load(std::memory_order_relaxed) * kMarkShare;
    if (wait < least.count()) wait = least.count();
    if (wait > most) wait = most;
    // Relaxed: where two look at once there are two ticks, which costs a mark and nothing else.
    if (t - marks_asked_at.load(std::memory_order_relaxed) < wait) return;
    marks_asked_at.store(t, std::memory_order_relaxed);
    marks_took.store(0, std::memory_order_relaxed);
    request_marks();
  }
};

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::environment;

}  // namespace sluice
