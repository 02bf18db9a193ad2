// SPDX-License-Identifier: Apache-2.0
// Counters of one stage of the plan, for profilers and tuners.
//
// All streams of that stage within a run share one object, including the streams of a repeat's epochs and of inner
// plans. A stream counts in its own plain members, and adds them here when it looks at the clock (every 64 blocks or
// 500 µs), when it ends and when it is destroyed. The counters lag behind by that much.
//
// Busy time is sampled. The most downstream stream of a tree (the root of a run, the stream that a pump requests from)
// divides its blocks into intervals of 1 to 64 (see turn.hpp) and times one block of an interval, which it draws at
// random, on its whole way through the stages upstream: in each interval of up to 8 blocks, which are slow, and in one of
// four longer ones. Each of these stages adds the time that its own coroutine took, without its inputs and without
// waiting, multiplied by the number of blocks that the timed one stands for. So the sums are unbiased, whatever the
// costs of the blocks and their order. Waits and the work of parallel tasks are not sampled: all of them are counted.
// The memory of at most 16 elements of a timed block is measured one by one.
//   double ns_each = double(c.sampled_ns.load()) / double(c.sampled_elements.load());          // without its inputs
//   double busy_ns = ns_each * double(c.elements.load() + c.passed.load());                    // an estimate
//
// Cost:   under 0.01 ns per element in blocks of 256; some nanoseconds per block.
// Thread: any. The counters are relaxed atomics: each is exact, but they are not consistent with each other at one
//         moment.
// See:    runtime/site_table.hpp, which reports them.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

/// The reason for which a stage, or the task that works ahead for it, waits.
enum class wait_reason : std::uint8_t {
  input,    ///< a block of its input
  calls,    ///< the stage's own parallel work on the next block
  disk,     ///< a local file
  network,  ///< a remote file
  pace,     ///< the time that the plan itself demands: rate_limit, sleep
  /// a thread of the pool of blocking calls (runtime/blocking.hpp): all of its threads are in use
  call_pool,
  room,    ///< the task ahead: the channel is full of blocks that the consumer has not taken
  limit,   ///< the task ahead: as many blocks as `parallelism` allows are being made
  memory,  ///< the task ahead: the memory budget is used up
};
inline constexpr std::size_t kWaitReasons = 9;
/// Returns true if the stage itself waits; false if only its task ahead does, while the stage may deliver blocks.
constexpr bool delays_stage(wait_reason r) { return r < wait_reason::room; }

/// Elements are divided into classes by their memory: at most 64 bytes, 256 bytes, 1 KiB, and so on. The last class has
/// no limit.
inline constexpr std::size_t kSizeClasses = 12;
constexpr std::uint64_t bytes_max_of_class(std::size_t i) { return std::uint64_t{64} << (2 * i); }
constexpr std::size_t size_class_of(std::uint64_t bytes) {
  if (bytes <= bytes_max_of_class(0)) return 0;
  const auto i = static_cast<std::size_t>(std::bit_width(bytes - 1) - 5) / 2;
  return i < kSizeClasses ? i : kSizeClasses - 1;
}

struct stage_counts {
  using number = std::atomic<std::uint64_t>;
  using real = std::atomic<double>;

  number elements{0};  ///< delivered
  number passed{0};    ///< skipped, because the consumer's demand said so (the operator skip, a resume)
  number blocks{0};    ///< in which the elements were delivered

  number sampled_elements{
      0};                   ///< elements of the timed blocks, including the skipped ones; weighted, as the next three
  number sampled_ns{0};     ///< the time spent making the sampled elements
  number sampled_bytes{0};  ///< the memory of the sampled elements that were delivered
  real sampled_square{0};   ///< the sum over the sampled elements of the squared nanoseconds of each
  number longest_ns{0};     ///< the most time for one element, as far as blocks were timed

  /// The elements of the timed blocks, and the time spent on them, by the mean memory of an element of the block, or of
  /// its input if that is larger. Weighted; of the stage's tasks if it has some. Most stages have elements of one class,
  /// that of the first timed block.
  struct size_class {
    number elements{0}, ns{0};
  };
  static constexpr std::uint8_t kNoClass = 255;
  std::atomic<std::uint8_t> usual_class{kNoClass};
  size_class usual_size{};
  number sized_elements{0};              ///< elements whose memory was measured, one by one; weighted, as the next two
  real sized_bytes{0}, sized_square{0};  ///< the sums of their bytes, and of the squares of these
  number largest_bytes{0};               ///< the most memory of one of them

  /// The counters that few stages need. rare() allocates them.
  struct rare_counts;
  ~stage_counts();
  /// Returns null if nothing of it was counted.
  const rare_counts* find_rare() const noexcept { return rare_.load(std::memory_order_acquire); }
  /// Without memory it returns counters that nobody reads.
  rare_counts& rare() noexcept {
    rare_counts* known = rare_.load(std::memory_order_acquire);
    return known ? *known : make_rare();
  }

  /// Relaxed: a counter publishes no other data.
  static void add(number& to, std::uint64_t n) noexcept {
    if (n) to.fetch_add(n, std::memory_order_relaxed);
  }
  static void add(number& times, number& ns, duration took) noexcept {
    times.fetch_add(1, std::memory_order_relaxed);
    add(ns, static_cast<std::uint64_t>(took.count()));
  }
  inline void add_wait(wait_reason why, duration took) noexcept;
  /// Adds the time of `count` elements of about `each_bytes`.
  void add_to_class(std::uint64_t each_bytes, std::uint64_t count, std::uint64_t ns) noexcept {
    const auto i = static_cast<std::uint8_t>(size_class_of(each_bytes));
    std::uint8_t usual = usual_class.load(std::memory_order_relaxed);  // an independent number: its sums begin at 0
    if (usual == kNoClass && usual_class.compare_exchange_strong(usual, i, std::memory_order_relaxed)) usual = i;
    if (usual != i) return add_to_other_class(i, count, ns);
    add(usual_size.elements, count);
    add(usual_size.ns, ns);
  }
  /// Adds the squares of the times of `count` elements that took `ns` in all, and stand for `weight` times as many.
  void add_squares(real& to, std::uint64_t ns, std::uint64_t count, std::uint64_t weight) noexcept {
    if (count == 0) return;
    const double each = static_cast<double>(ns) / static_cast<double>(count);
    to.fetch_add(each * each * static_cast<double>(count * weight), std::memory_order_relaxed);
    // A concurrent longer time may be lost; the next one is noted.
    if (each > static_cast<double>(longest_ns.load(std::memory_order_relaxed)))
      longest_ns.store(static_cast<std::uint64_t>(each), std::memory_order_relaxed);
  }

 private:
  rare_counts& make_rare() noexcept;
  void add_to_other_class(std::size_t i, std::uint64_t count, std::uint64_t ns) noexcept;

  std::atomic<rare_counts*> rare_{nullptr};  // owned
};

struct stage_counts::rare_counts {
  struct wait {
    number times{0}, ns{0};
    void add(duration took) noexcept { stage_counts::add(times, ns, took); }
  };
  std::array<wait, kWaitReasons> waits{};
  wait task_pool_waits{};  ///< waits of the stage's tasks for a thread of the call pool; several tasks wait at once
  /// The classes other than the usual one, whose entry is 0.
  std::array<size_class, kSizeClasses> by_size{};
  number computed_elements{0};  ///< elements made by the stage's tasks (the calls of a parallel map); not sampled
  number computed_ns{0};        ///< the time of these tasks, if they compute
  number in_flight_ns{0};       ///< the time of these tasks, if they await calls
  real computed_square{0};      ///< the sum over these elements of the squared nanoseconds of each
  number read_bytes{0};         ///< read from files, before inflating
  number reads{0};              ///< reads of files that had to wait, including those ahead of the stage
  number reads_ns{0};           ///< the sum of their times: divided by the run's time, the mean number in flight
  number first_bytes{0};        ///< files whose first byte was waited for
  number first_byte_ns{0};      ///< from the open to the first byte
  number requests{0};           ///< requests to a server that have begun to answer
  number answered_ns{0};        ///< from these requests to the first bytes of their answers

  void add_read(duration took) noexcept { stage_counts::add(reads, reads_ns, took); }
  void add_first_byte(duration took) noexcept { stage_counts::add(first_bytes, first_byte_ns, took); }
  void add_requests(std::uint64_t n, duration first_byte) noexcept {
    stage_counts::add(requests, n);
    stage_counts::add(answered_ns, static_cast<std::uint64_t>(first_byte.count()));
  }
};

inline void stage_counts::add_wait(wait_reason why, duration took) noexcept {
  rare().waits[static_cast<std::size_t>(why)].add(took);
}

}  // namespace sluice::lib
