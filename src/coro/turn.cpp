// SPDX-License-Identifier: Apache-2.0
#include "sluice/coro/detail/turn.hpp"

#include <algorithm>
#include <utility>

namespace sluice::lib {
namespace {

/// The intended time between two reads of the clock if steps are slow.
constexpr duration kLookTime = std::chrono::microseconds(500);
/// After this much work without a pause other coroutines run. Between two waits they often work only for about 10 µs,
/// so many small steps beside a coroutine that never waits become slower in proportion; a switch costs 1 µs.
constexpr duration kTurn = std::chrono::milliseconds(2);

}  // namespace

turn::seen turn::look(const environment& env, std::uint16_t steps_max) {
  seen s;
  s.now = env.time->now();
  s.steps = steps_;
  if (looked_at_ == time_point()) looked_at_ = began_at_ = s.now;
  s.since_last_look = s.now - std::exchange(looked_at_, s.now);
  std::int64_t next = s.since_last_look > kLookTime ? steps_ * kLookTime / s.since_last_look : steps_ * 2;
  until_look_ = steps_ = static_cast<std::uint16_t>(std::clamp<std::int64_t>(next, 1, steps_max));
  if (s.now - began_at_ < kTurn) return s;
  began_at_ = s.now;
  s.others_first = env.exec && env.exec->on_worker();  // a consumer on a thread of its own stays there
  return s;
}

}  // namespace sluice::lib
