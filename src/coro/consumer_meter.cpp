// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/detail/consumer_meter.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "sluice/base/random_bits.hpp"

namespace sluice::lib {
namespace {

/// A wait of this many times the usual one is a stall.
constexpr double kStallFactor = 4;
constexpr double kSeenMin = 8;        // requests from which on the usual wait is known
constexpr double kNewest = 1.0 / 16;  // the weight of the newest request in the usual wait
/// A longer wait counts once, whatever the number of requests that it stands for: it is too rare to be a sample.
constexpr duration kCountsOnce = std::chrono::milliseconds(1);

/// Returns what `owner` owns, which only the calling thread changes, and allocates it at the first call. Returns null if
/// the memory is missing: the measurement is then lost.
template <class T> T* made_once(std::atomic<T*>& owner) noexcept {
  T* known = owner.load(std::memory_order_relaxed);
  if (known) return known;
  known = new (std::nothrow) T();
  owner.store(known, std::memory_order_release);  // other threads read it
  return known;
}

}  // namespace

consumer_meter::~consumer_meter() {
  delete buckets_.load(std::memory_order_relaxed);
  delete stalls_.load(std::memory_order_relaxed);
}

std::uint64_t consumer_meter::took_below(std::size_t i) const noexcept {
  const buckets* later = buckets_.load(std::memory_order_acquire);
  const std::uint64_t first = first_bucket_.load(std::memory_order_relaxed) == i ? 1 : 0;
  return first + (later ? (*later)[i].load(std::memory_order_relaxed) : 0);
}

void consumer_meter::add_to_bucket(std::size_t i) noexcept {
  if (first_bucket_.load(std::memory_order_relaxed) == kBuckets)
    return first_bucket_.store(static_cast<std::uint8_t>(i), std::memory_order_relaxed);
  if (buckets* later = made_once(buckets_)) add((*later)[i], weight_);
}

void consumer_meter::asked(time_point now) noexcept {
  if (!has_begun_) first_at_ = now;  // in virtual time this may be 0
  has_begun_ = true;
  asked_at_ = now;
}

void consumer_meter::got(time_point now, std::uint64_t next) noexcept {
  is_timed_ = false;
  if (fast_ == 0) weight_ = 1;  // time_all() has ended the sampling
  const duration took = now - asked_at_;
  const auto ns = static_cast<std::uint64_t>(std::max<duration::rep>(took.count(), 0));
  add(requests, weight_);
  add_to_bucket(std::min<std::size_t>(kBuckets - 1, static_cast<std::size_t>(std::bit_width(ns))));
  elapsed_ns.store(static_cast<std::uint64_t>((now - first_at_).count()), std::memory_order_relaxed);
  const bool is_first = requests.load(std::memory_order_relaxed) == weight_;                  // it fills the pipeline
  const auto seen = static_cast<double>(requests.load(std::memory_order_relaxed) - weight_);  // before this one
  if (took >= kWaitMin) note_wait(took, next, seen >= kSeenMin);
  if (!is_first) usual_ns_ += (static_cast<double>(ns) - usual_ns_) * std::max(kNewest, 1 / seen);
  if (took >= kWaitMin) {
    until_timed_ = weight_ = 1;
    fast_ = 0;
    return;
  }
  if (fast_ < kFastUntilSampled) {
    ++fast_;
    return;
  }
  constexpr std::uint32_t kLeast = 32, kChoices = 65;
  weight_ = until_timed_ = kLeast + static_cast<std::uint32_t>(mix(next) % kChoices);
}

void consumer_meter::note_wait(duration took, std::uint64_t next, bool can_be_stall) noexcept {
  const std::uint64_t times = took < kCountsOnce ? weight_ : 1;
  const auto ns = static_cast<std::uint64_t>(took.count());
  add(waits, times);
  add(waited_ns, ns * times);
  if (!can_be_stall || static_cast<double>(ns) < kStallFactor * usual_ns_) return;
  const std::uint64_t n = stalls.load(std::memory_order_relaxed);
  stall_ring* ring = made_once(stalls_);
  if (!ring) return;
  ring->element[n % kStalls].store(next ? next - 1 : 0, std::memory_order_relaxed);
  ring->ns[n % kStalls].store(ns, std::memory_order_relaxed);
  stalls.store(n + 1, std::memory_order_relaxed);
}

}  // namespace sluice::lib
