// SPDX-License-Identifier: Apache-2.0
// Measures how long the consumer of a run waits for its elements, and when.
//
// Each request of the root stream is timed. After 64 requests of less than 50 µs each, one request in about 64 is timed,
// at random; a request that takes longer, or a slow interval between two looks, ends that.
// Cost:   two reads of the clock for each timed request, some 4 ns for each request otherwise.
// Thread: the run's consumer writes; any thread reads. Relaxed: the numbers are independent of each other.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class consumer_meter {
 public:
  using number = std::atomic<std::uint64_t>;
  consumer_meter() = default;
  consumer_meter(const consumer_meter&) = delete;
  consumer_meter& operator=(const consumer_meter&) = delete;
  ~consumer_meter();
  /// A shorter wait does not count: a consumer does not notice it.
  static constexpr duration kWaitMin = std::chrono::microseconds(50);
  static constexpr std::size_t kStalls = 64;   ///< the newest ones are kept
  static constexpr std::size_t kBuckets = 40;  ///< of durations: bucket i has those of less than 2^i ns

  /// A request begins. Returns true if it is timed; then asked() follows.
  bool asks() noexcept {
    is_timed_ = until_timed_ <= 1;
    if (!is_timed_) --until_timed_;
    return is_timed_;
  }
  void asked(time_point now) noexcept;
  bool is_timed() const noexcept { return is_timed_; }
  /// The timed request has ended with elements before `next`.
  void got(time_point now, std::uint64_t next) noexcept;
  /// Times the next requests all, because something was slow.
  void time_all() noexcept {
    if (until_timed_ <= 1) return;
    until_timed_ = 1;
    fast_ = 0;
  }

  number requests{0};    ///< estimated, if not all are timed
  number waits{0};       ///< requests of at least kWaitMin
  number waited_ns{0};   ///< their sum
  number elapsed_ns{0};  ///< from the first request to the end of the last one that was timed
  /// Returns the number of requests in the bucket `i`.
  std::uint64_t took_below(std::size_t i) const noexcept;
  /// Stalls are waits of at least four times the usual time. The newest ones, as a ring: the ordinals of the elements
  /// that the consumer waited for, and the times.
  struct stall_ring {
    std::array<number, kStalls> element{}, ns{};
  };
  number stalls{0};  ///< all of them
  /// Returns null before the first stall.
  const stall_ring* newest_stalls() const noexcept { return stalls_.load(std::memory_order_acquire); }

 private:
  using buckets = std::array<number, kBuckets>;
  static constexpr std::uint32_t kFastUntilSampled = 64;
  static void add(number& to, std::uint64_t n) noexcept {
    to.store(to.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);  // one writer
  }
  void add_to_bucket(std::size_t i) noexcept;
  void note_wait(duration took, std::uint64_t next, bool can_be_stall) noexcept;

  bool is_timed_ = false;
  std::uint32_t until_timed_ = 1;
  std::uint32_t weight_ = 1;  ///< the number of requests that the timed one stands for
  std::uint32_t fast_ = 0;    ///< consecutive requests below kWaitMin
  double usual_ns_ = 0;       ///< a moving mean over the timed requests
  bool has_begun_ = false;
  time_point first_at_{}, asked_at_{};
  // Most streams of a server have one request or a few, and no stall. So the first request has no array of buckets.
  std::atomic<std::uint8_t> first_bucket_{kBuckets};
  std::atomic<buckets*> buckets_{nullptr};    // of the later requests; owned; null before the second one
  std::atomic<stall_ring*> stalls_{nullptr};  // owned; null before the first one
};

}  // namespace sluice::lib
