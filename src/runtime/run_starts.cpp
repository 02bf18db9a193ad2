// SPDX-License-Identifier: Apache-2.0
#include "runtime/run_starts.hpp"

#include <sys/random.h>
#include <time.h>

#include <chrono>

#include "sluice/base/random_bits.hpp"

namespace sluice::lib {
namespace {

constexpr duration kCpuTimeFresh = std::chrono::microseconds(100);

}  // namespace

duration process_cpu_time() noexcept {
  timespec t{};
  if (::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0) return {};
  return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

std::uint64_t run_starts::drawn_seed(time_point now) noexcept {
  std::uint64_t base = base_.load(std::memory_order_relaxed);  // an independent number
  if (base == 0) {
    std::uint64_t drawn = 0;
    if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
      drawn = static_cast<std::uint64_t>(now.time_since_epoch().count());
    drawn |= 1;
    if (base_.compare_exchange_strong(base, drawn, std::memory_order_relaxed)) base = drawn;
  }
  return mix(base + 2 * drawn_.fetch_add(1, std::memory_order_relaxed)) >> 1;
}

duration run_starts::cpu_time(time_point now) noexcept {
  const duration::rep at = now.time_since_epoch().count();
  // Acquire: the CPU time is at least as new as `read_at_`.
  const duration::rep read_at = read_at_.load(std::memory_order_acquire);
  if (read_at != INT64_MIN && at - read_at < kCpuTimeFresh.count())
    return duration(cpu_ns_.load(std::memory_order_relaxed));
  const duration cpu = process_cpu_time();
  cpu_ns_.store(cpu.count(), std::memory_order_relaxed);
  read_at_.store(at, std::memory_order_release);
  return cpu;
}

}  // namespace sluice::lib
