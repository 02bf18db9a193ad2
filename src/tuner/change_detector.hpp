// SPDX-License-Identifier: Apache-2.0
// Detects that a cost has changed: a cumulative sum of the differences of its logarithm (CUSUM, Page 1954).
//
// A change by a factor of two is detected at once, one by 30 % after some looks. Differences of less than kSlack are noise.
// Thread: none.
#pragma once

#include <algorithm>
#include <cmath>

namespace sluice::lib {

class change_detector {
 public:
  /// Returns true if the cost has changed; it begins again with this value then. Costs of 0 are unknown. `doubt`: a
  /// difference that the samples alone may cause; `share`: the same, as a share of the cost before or after.
  bool enter(double cost, double doubt = 0, double share = 0) {
    if (cost <= 0) return false;
    if (usual_ <= 0) usual_ = cost;
    doubt = std::max(doubt, share * std::min(cost, usual_));
    const double x = std::abs(cost - usual_) <= doubt ? 0 : std::log(cost / usual_);
    up_ = std::max(0.0, up_ + x - kSlack);
    down_ = std::max(0.0, down_ - x - kSlack);
    if (up_ < kAlarm && down_ < kAlarm) return false;
    *this = {};
    usual_ = cost;
    return true;
  }

 private:
  static constexpr double kSlack = 0.15, kAlarm = 0.5;
  double usual_ = 0, up_ = 0, down_ = 0;
};

}  // namespace sluice::lib
