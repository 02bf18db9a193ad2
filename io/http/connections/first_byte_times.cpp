// SPDX-License-Identifier: Apache-2.0
#include "io/http/connections/first_byte_times.hpp"

#include <algorithm>
#include <vector>

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kRecent = 16;
constexpr int kInflated = 2;
/// A hedge waits at least a quarter longer than usual. If all answers take about the same time, the slowest twentieth
/// is not late, and hedges are saved for answers that are.
constexpr int kLate = 4;

duration nth(std::vector<duration>& times, std::size_t percent) {
  const std::size_t at = std::min(times.size() - 1, times.size() * percent / 100);
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(at), times.end());
  return times[at];
}

}  // namespace

void first_byte_times::add(duration first_byte) {
  mutex_lock lock(mutex_);
  times_[added_++ % kKept] = first_byte;
}

void first_byte_times::count_request() {
  mutex_lock lock(mutex_);
  ++requests_;
}

std::optional<duration> first_byte_times::hedge_after() const {
  std::vector<duration> all, recent;
  {
    mutex_lock lock(mutex_);
    const std::size_t kept = std::min<std::uint64_t>(added_, kKept);
    if (kept < kNeeded) return {};
    all.assign(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(kept));
    for (std::size_t i = 0; i != kRecent; ++i) recent.push_back(times_[(added_ - 1 - i) % kKept]);
  }
  const duration usual = nth(all, 50);
  if (nth(recent, 50) > kInflated * usual) return {};
  return std::max(nth(all, 95), usual + usual / kLate);
}

bool first_byte_times::take_hedge() {
  mutex_lock lock(mutex_);
  if ((hedges_ + 1) * kRequestsForOneHedge > requests_) return false;
  ++hedges_;
  return true;
}

}  // namespace sluice::lib::detail
