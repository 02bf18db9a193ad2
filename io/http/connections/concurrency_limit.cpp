// SPDX-License-Identifier: Apache-2.0
#include "io/http/connections/concurrency_limit.hpp"

#include <algorithm>

namespace sluice::lib::detail {
namespace {

/// The weight of one more sample in the smoothed round trip: the same as TCP's.
constexpr int kSmoothing = 8;
/// The weight of one more answer in the share of refusals.
constexpr double kShareOfOne = 1.0 / 64;
/// The share of refusals above which the limit is halved. A server that refuses one request in twenty at random gains
/// nothing from half as many requests; this value is more than four and a half standard deviations above that share. If
/// a server refuses all requests, the tenth refusal exceeds it.
constexpr double kRefusedMax = 0.14;

}  // namespace

bool concurrency_limit::take_one() {
  if (in_use_ == 0) {  // an idle time measures nothing
    window_began_ = time_.now();
    window_bytes_ = 0;
    was_full_ = false;
  }
  if (in_use_ >= limit_ || !waiting_.empty()) {
    was_full_ = true;
    return false;
  }
  ++in_use_;
  was_full_ = was_full_ || in_use_ == limit_;
  return true;
}

std::optional<concurrency_limit::permit> concurrency_limit::try_acquire() {
  mutex_lock lock(mutex_);
  if (!take_one()) return {};
  return permit(this, halvings_);
}

std::optional<concurrency_limit::permit> concurrency_limit::try_acquire_beyond() {
  constexpr std::uint32_t kBeyond = 16;
  mutex_lock lock(mutex_);
  if (in_use_ >= limit_ + limit_ / kBeyond) return {};
  ++in_use_;
  return permit(this, halvings_);
}

void concurrency_limit::admit(wake_list& woken) {
  while (in_use_ < limit_) {
    auto* next = static_cast<acquire_awaiter*>(waiting_.front());
    if (!next) return;
    ++in_use_;
    next->given_after_ = halvings_;
    next->wake_into(woken);
  }
}

void concurrency_limit::release() noexcept {
  waking_lock lock(mutex_);
  --in_use_;
  admit(lock.woken);
}

void concurrency_limit::answered(duration first_byte) {
  mutex_lock lock(mutex_);
  refused_share_ -= refused_share_ * kShareOfOne;
  round_trip_ = round_trip_.count() ? round_trip_ + (first_byte - round_trip_) / kSmoothing : first_byte;
}

void concurrency_limit::received(std::uint64_t bytes) {
  waking_lock lock(mutex_);
  window_bytes_ += bytes;
  const time_point now = time_.now();
  if (now - window_began_ >= std::max(round_trip_, duration(1))) end_window(now, lock.woken);
}

void concurrency_limit::end_window(time_point now, wake_list& woken) {
  const double seconds = std::chrono::duration<double>(now - window_began_).count();
  const double rate = static_cast<double>(window_bytes_) / seconds;
  if (was_full_ && limit_ < most_ && (limit_ < regain_below_ || rate > rate_before_)) {
    ++limit_;
    admit(woken);
  }
  rate_before_ = rate;
  window_began_ = now;
  window_bytes_ = 0;
  was_full_ = in_use_ >= limit_;
}

void concurrency_limit::throttled(const permit& refused) {
  mutex_lock lock(mutex_);
  refused_share_ += kShareOfOne;
  if (refused_share_ < kRefusedMax) return;
  if (refused.given_after_ != halvings_) return;  // it was already in flight at the last halving
  ++halvings_;
  regain_below_ = limit_ - limit_ / 4;
  limit_ = std::max(1u, limit_ / 2);
}

duration concurrency_limit::round_trip() const {
  mutex_lock lock(mutex_);
  return round_trip_;
}

std::uint32_t concurrency_limit::limit() const {
  mutex_lock lock(mutex_);
  return limit_;
}

std::uint32_t concurrency_limit::in_use() const {
  mutex_lock lock(mutex_);
  return in_use_;
}

}  // namespace sluice::lib::detail
