// SPDX-License-Identifier: Apache-2.0
// How long a server's answers take to begin, and when a request has waited for so long that asking once more is worth it.
//
//   if (auto after = times.hedge_after()) …            // sleep for it, then:
//   if (times.take_hedge()) …                          // ask on another connection; else sleep for it again
//
// That is later than 95 % of the last answers began, and a quarter later than usual. It is no use where all of them are slow now
// (the last sixteen took twice as long as usual): the server has too much to do, and more requests make it worse. At most one
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
  /// Fewer say nothing of the slowest twentieth.
  static constexpr std::size_t kNeeded = 32;
  static constexpr std::uint64_t kRequestsForOneHedge = 20;

  void add(duration first_byte);
  /// One more request was begun.
  void count_request();
  std::optional<duration> hedge_after() const;
  /// Returns true if one more may be sent, and counts it.
  bool take_hedge();

 private:
  mutable mutex mutex_;
  std::array<duration, kKept> times_ ABSL_GUARDED_BY(mutex_){};  ///< a ring
  std::uint64_t added_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t requests_ ABSL_GUARDED_BY(mutex_) = 0, hedges_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sluice::lib::detail
