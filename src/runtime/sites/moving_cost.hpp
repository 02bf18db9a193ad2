// SPDX-License-Identifier: Apache-2.0
// The cost of giving work to another core of this machine: the hand-over itself, and the cache lines that move with it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct moving_cost {
  double hand_over_ns = 10'000;  ///< to wake a sleeping worker, or to wait for one that spins
  /// Half of the additional time to fetch data that another core wrote last, compared with reading it where it was
  /// written. The other half is saved, because the other core works meanwhile.
  double byte_ns = 0.05;
  /// The additional time to allocate and free the memory of one element on different cores. It depends on the allocator:
  /// 30 to 70 ns with glibc's, 10 to 15 ns with mimalloc.
  double owner_ns = 100;

  std::chrono::nanoseconds of(const moved_data& moved) const {
    return std::chrono::nanoseconds(static_cast<long>(hand_over_ns + byte_ns * static_cast<double>(moved.bytes) +
                                                      owner_ns * static_cast<double>(moved.owners)));
  }
};

/// The cost on a machine that may be too busy to measure it: then the figures above hold until a later attempt succeeds.
/// One failed attempt must not decide for a whole run whether its work is shared.
///
/// Thread: any. One thread measures, and the others use what is known.
class measured_moving_cost {
 public:
  using measurement = std::optional<moving_cost> (*)();  ///< nullopt: the machine is too busy
  using time = std::chrono::steady_clock::time_point;
  static constexpr int kAttempts = 6;
  static constexpr std::chrono::milliseconds kPause{5};  ///< after the first attempt; each later one is twice as long

  explicit measured_moving_cost(measurement m) : measure_(m) {}
  /// Measures in the first call, and in later ones where an attempt is due.
  moving_cost at(time now);
  /// Returns true if no further attempt will be made.
  bool is_final() const { return is_final_.load(std::memory_order_acquire); }
  moving_cost known() const {
    return {.byte_ns = byte_ns_.load(std::memory_order_relaxed), .owner_ns = owner_ns_.load(std::memory_order_relaxed)};
  }

 private:
  void attempt(time now);

  const measurement measure_;
  std::once_flag first_;
  std::atomic<bool> is_final_{false}, is_measuring_{false};
  std::atomic<double> byte_ns_{moving_cost().byte_ns}, owner_ns_{moving_cost().owner_ns};
  std::atomic<time> due_{time()};
  int attempts_ = 0;  ///< of the thread that measures
};

/// Measures the cost on the first call, in about 0.5 ms, with a second thread. Thread: any.
moving_cost machine_moving_cost();

}  // namespace sluice::lib
