// SPDX-License-Identifier: Apache-2.0
#include "io/http/retry_policy.hpp"

#include <algorithm>

#include "io/http/messages/http_text.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::detail {
namespace {

constexpr const char* kUnreached = "; no server has answered there yet: check the host and the port";

}  // namespace

bool retry_budget::take(std::int64_t cost) noexcept {
  std::int64_t now = tokens_.load(std::memory_order_relaxed);
  do {
    if (now < cost) return false;
  } while (!tokens_.compare_exchange_weak(now, now - cost, std::memory_order_relaxed));
  return true;
}

void retry_budget::earn() noexcept {
  std::int64_t now = tokens_.load(std::memory_order_relaxed);
  while (now < kTokens && !tokens_.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) {}
}

std::optional<duration> retry_state::next_wait(const http_failure& failed, time_point now) {
  if (!failed.again) return {};
  if (++fruitless_ >= attempts_max_) {
    given_up_ = failed.is_unreached && attempts_max_ > 1
                    ? kUnreached
                    : "; that was the last attempt (http_options::attempts_max, --attempts)";
    return {};
  }
  if (failed.retry_after && *failed.retry_after > kRetryAfterMax) {
    given_up_ = joined("; no more attempts: the server asks to wait for ",
                       std::chrono::duration_cast<std::chrono::seconds>(*failed.retry_after).count(), " s");
    return {};
  }
  if (!budget_.take(failed.stalled ? retry_budget::kStallCosts : retry_budget::kRetryCosts)) {
    given_up_ = "; no more attempts: too many requests have failed";
    return {};
  }
  ++attempt_;
  const auto most = static_cast<std::uint64_t>((last_wait_ * 3 - kWaitMin).count());
  last_wait_ = std::min(kWaitMax, kWaitMin + duration(static_cast<std::int64_t>(draw(seed_, attempt_, most + 1))));
  const duration wait = fruitless_ == 1 ? last_wait_ / 2 : last_wait_;
  const duration whole = std::max(wait, failed.retry_after.value_or(duration(0)));
  if (failed.is_unreached && now + whole > began_ + kFirstContactMax) {
    given_up_ = kUnreached;
    return {};
  }
  return whole;
}

}  // namespace sluice::lib::detail
