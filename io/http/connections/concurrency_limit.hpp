// SPDX-License-Identifier: Apache-2.0
// Limits the number of requests in flight to one server. The limit grows while more requests bring more bytes a second,
// and is halved when the server reports overload.
//
//   auto permit = co_await limit.acquire();            // held until it is destroyed
//   limit.answered(first_byte);                        // one round trip
//   limit.received(bytes);
//   limit.throttled(permit);                           // 429 or 503
//
// After each round trip in which all permits were in use the limit grows by one, if more bytes arrived than in the
// previous round trip, or if it is below three quarters of its value before the last halving: a single 503 does not
// slow a server down forever. It is halved when a request that was sent after the last halving is refused (earlier ones
// say nothing new), if more than 14 of 100 recent answers were refusals. Without this condition a server that refuses
// one request in twenty at random would keep the limit at a tenth.
// Order:  first come, first served.
// Cancel: a stop ends acquire() with `cancelled`.
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/detail/waiter.hpp"

namespace sluice::lib::detail {

class concurrency_limit {
 public:
  concurrency_limit(clock& time, std::uint32_t first, std::uint32_t most) : time_(time), most_(most), limit_(first) {}
  concurrency_limit(const concurrency_limit&) = delete;

  class permit {
   public:
    permit() = default;
    permit(concurrency_limit* of, std::uint64_t given_after) noexcept : of_(of), given_after_(given_after) {}
    permit(permit&& o) noexcept : of_(std::exchange(o.of_, nullptr)), given_after_(o.given_after_) {}
    permit& operator=(permit&& o) noexcept {
      std::swap(of_, o.of_);
      std::swap(given_after_, o.given_after_);
      return *this;
    }
    ~permit() {
      if (of_) of_->release();
    }

   private:
    friend class concurrency_limit;
    concurrency_limit* of_ = nullptr;
    std::uint64_t given_after_ = 0;  ///< the number of halvings
  };

  class [[nodiscard]] acquire_awaiter final : waiter {
   public:
    explicit acquire_awaiter(concurrency_limit& of) noexcept : of_(of) {}
    ~acquire_awaiter() { abandon(); }
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return wait(h, of_.mutex_, of_.waiting_, [this](wake_list&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(of_.mutex_) {
        given_after_ = of_.halvings_;
        return of_.take_one() ? attempt::done : attempt::pending;
      });
    }
    permit await_resume() const {
      throw_if_failed();
      return permit(&of_, given_after_);
    }

   private:
    friend class concurrency_limit;
    concurrency_limit& of_;
    std::uint64_t given_after_ = 0;
  };
  acquire_awaiter acquire() noexcept { return acquire_awaiter(*this); }
  /// Returns a permit, or nothing if the caller would have to wait.
  std::optional<permit> try_acquire();
  /// Returns a permit for a hedge. Hedges may exceed the limit by a sixteenth: a server that is used up to its limit
  /// needs them most, and without them a request that waits for a permit would not be served sooner.
  std::optional<permit> try_acquire_beyond();

  /// Records the head of an answer.
  void answered(duration first_byte);
  void received(std::uint64_t bytes);
  /// Records a refusal. `refused`: the permit with which the request was sent.
  void throttled(const permit& refused);
  /// Returns the recent round trip. 0: no answer has arrived yet.
  duration round_trip() const;
  std::uint32_t limit() const;
  std::uint32_t in_use() const;

 private:
  bool take_one() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void release() noexcept;
  void end_window(time_point now, wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void admit(wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  clock& time_;
  const std::uint32_t most_;
  mutable mutex mutex_;
  waiter_list waiting_ ABSL_GUARDED_BY(mutex_);
  std::uint32_t limit_ ABSL_GUARDED_BY(mutex_);
  std::uint32_t in_use_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint32_t regain_below_ ABSL_GUARDED_BY(mutex_) = 0;  ///< three quarters of the limit before it was halved
  duration round_trip_ ABSL_GUARDED_BY(mutex_){0};          ///< smoothed
  double refused_share_ ABSL_GUARDED_BY(mutex_) = 0;        ///< the share among the answers; smoothed
  std::uint64_t halvings_ ABSL_GUARDED_BY(mutex_) = 0;
  time_point window_began_ ABSL_GUARDED_BY(mutex_){};
  bool was_full_ ABSL_GUARDED_BY(mutex_) = false;  ///< in this window all permits were in use
  std::uint64_t window_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  double rate_before_ ABSL_GUARDED_BY(mutex_) = 0;  ///< bytes a second in the previous window
};

}  // namespace sluice::lib::detail
