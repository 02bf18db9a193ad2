// SPDX-License-Identifier: Apache-2.0
// The time before a call is repeated: doubles with each failure, and is drawn, so that many callers do not return together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/base/random_bits.hpp"
#include "sluice/base/status.hpp"
#include "sluice/coro/environment.hpp"

namespace sluice::lib {

struct retry_delays {
  duration least = std::chrono::milliseconds(20);
  duration most = std::chrono::seconds(1);
};

/// After `failures` (≥ 1) failures in a row: half to all of least · 2^(failures - 1), at most `most`.
inline duration retry_delay(const retry_delays& d, std::uint64_t failures, std::uint64_t seed, std::uint64_t counter) {
  const duration whole = std::min(d.most, d.least * (std::int64_t{1} << std::min<std::uint64_t>(failures - 1, 20)));
  const auto half = static_cast<std::uint64_t>(whole.count() / 2);
  return duration(static_cast<std::int64_t>(half + draw(seed, counter, half + 1)));
}

/// Returns true if a repetition of the call may succeed: no answer came, or the dispatcher cannot answer now. Every other
/// status is its answer.
inline bool may_be_repeated(const status& why) {
  return why.code() == status_code::unavailable || why.code() == status_code::deadline_exceeded;
}

}  // namespace sluice::lib
