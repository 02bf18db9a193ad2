// SPDX-License-Identifier: Apache-2.0
// Decides whether and when a failed request is sent again.
//
//   retry_state retry(context);
//   …
//   if (auto wait = retry.next_wait(failed, now)) { co_await sleep_for(*wait); … }
//
// Waits are drawn between 100 ms and three times the previous wait, at most 15 s ("decorrelated jitter"), so that
// requests which failed together do not return together. Retry-After makes them longer. The first wait is half as long,
// because most servers have recovered by then.
//
// A server that has never been reached gets attempts for four seconds only: a refused connection or an unknown name is
// then a mistyped port or host rather than a server that restarts.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "sluice/base/status.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib::detail {

/// The reason why an attempt failed, and its consequences for the next one.
struct http_failure {
  status why = {};
  bool again = false;         ///< another attempt may succeed
  bool throttled = false;     ///< the server reports overload
  bool stalled = false;       ///< the attempt failed by taking too long
  bool is_unreached = false;  ///< no connection to this server has ever been made: refused, or an unknown name
  bool at_once = false;       ///< the caller has learned something from the answer: the next attempt needs no wait
  std::optional<duration> retry_after = {};
  std::string request_id = {};
};

/// Limits the retries of all requests of a runtime together. A server that is down uses up the budget; after that,
/// requests fail after their first attempt. Thread: any.
class retry_budget {
 public:
  static constexpr std::int64_t kTokens = 500;
  static constexpr std::int64_t kRetryCosts = 5;
  static constexpr std::int64_t kStallCosts = 10;

  bool take(std::int64_t cost) noexcept;
  /// Records a successful request.
  void earn() noexcept;
  std::int64_t tokens() const noexcept { return tokens_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> tokens_{kTokens};  // relaxed: no other memory depends on it
};

/// The attempts of one range. Thread: one.
class retry_state {
 public:
  static constexpr duration kWaitMin = std::chrono::milliseconds(100);
  static constexpr duration kWaitMax = std::chrono::seconds(15);
  static constexpr duration kRetryAfterMax = std::chrono::seconds(60);
  /// The time, since the beginning, in which the last attempt to reach a server for the first time begins.
  static constexpr duration kFirstContactMax = std::chrono::seconds(4);

  /// The attempts begin at `began`.
  retry_state(retry_budget& budget, std::uint32_t attempts_max, std::uint64_t seed, time_point began) noexcept
      : budget_(budget), attempts_max_(attempts_max), seed_(seed), began_(began) {}

  /// Returns the number of the present attempt, from 1.
  std::uint32_t attempt() const noexcept { return attempt_; }
  /// Returns the number of consecutive attempts that have delivered nothing, of attempts_max().
  std::uint32_t fruitless() const noexcept { return fruitless_; }
  std::uint32_t attempts_max() const noexcept { return attempts_max_; }
  time_point began() const noexcept { return began_; }
  /// Reports that the attempt has delivered bytes, and that the next one continues after them. Resets the count of
  /// fruitless attempts, but not the budget.
  void moved_on() noexcept {
    fruitless_ = 0;
    last_wait_ = kWaitMin;
  }
  /// Returns the wait before the next attempt. Returns nothing if no attempt is allowed; given_up() has the reason.
  std::optional<duration> next_wait(const http_failure& failed, time_point now);
  /// Returns "", or "; no more attempts: …" to follow the message.
  const std::string& given_up() const noexcept { return given_up_; }

 private:
  retry_budget& budget_;
  const std::uint32_t attempts_max_;
  const std::uint64_t seed_;
  const time_point began_;
  std::uint32_t attempt_ = 1;
  std::uint32_t fruitless_ = 0;  ///< consecutive attempts without progress
  duration last_wait_ = kWaitMin;
  std::string given_up_;
};

}  // namespace sluice::lib::detail
