// SPDX-License-Identifier: Apache-2.0
// Measures the time to the first byte of a server's answers, and decides when a second request is worthwhile.
//
//   if (auto after = times.hedge_after()) …            // sleep this long, then:
//   if (times.take_hedge()) …                          // send the request on another connection; else sleep again
//
// A hedge waits longer than 95 % of the recent answers took, and a quarter longer than usual. If all answers are slow
// now (the last sixteen took twice as long as usual), the server is overloaded, and no hedge is sent. At most one
// request in twenty is hedged.
// Thread: any.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sluice/base/mutex.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib::detail {

class first_byte_times {
 public:
  static constexpr std::size_t kKept = 128;
  /// The number of measurements below which no hedge is sent: fewer do not show the slowest twentieth.
  static constexpr std::size_t kNeeded = 32;
  static constexpr std::uint64_t kRequestsForOneHedge = 20;

  void add(duration first_byte);
  /// Counts a request.
  void count_request();
  std::optional<duration> hedge_after() const;
  /// Returns true if a hedge may be sent, and counts it.
  bool take_hedge();

 private:
  mutable mutex mutex_;
  std::array<duration, kKept> times_ ABSL_GUARDED_BY(mutex_){};  ///< a ring buffer
  std::uint64_t added_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t requests_ ABSL_GUARDED_BY(mutex_) = 0, hedges_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::lib::detail
