// SPDX-License-Identifier: Apache-2.0
// Measures how long a coroutine has worked without letting others run. It looks at the clock every 64 steps (blocks
// requested, elements skipped) if they are quick, and about every 500 µs if they are slow.
//
//   if (turn_.step()) {                          // true: a look is due
//     turn::seen s = turn_.look(env);
//     if (s.others_first) env.exec->post_later(me);
//   }
//
// Users:  each stream, for its fills; each stage, for the elements that it skips.
// Cost:   a step is one decrement; a look reads the clock, 25 ns.
// Thread: that of the coroutine.
#pragma once

#include <cstdint>

#include "sluice/coro/environment.hpp"

namespace sluice::lib {

class turn {
 public:
  static constexpr std::uint16_t kStepsMax = 64;
  /// Counts a step. Returns true if it is time for a look.
  bool step() { return --until_look_ == 0; }
  /// The result of a look.
  struct seen {
    time_point now;
    duration since_last_look;
    std::uint16_t steps = 0;    ///< since the last look
    bool others_first = false;  ///< this turn was long enough: yield to the executor
  };
  /// Looks at the clock of `env`, which has one. `steps_max`: the most steps until the next look.
  seen look(const environment& env, std::uint16_t steps_max = kStepsMax);
  /// The number of steps from the last look to the next one.
  std::uint16_t interval() const { return steps_; }
  /// Makes step() return true already `n` steps after the last look, once; due() is true then, and ends_pause() must be
  /// called. REQUIRES: 0 < n < interval(), and no step since the look.
  void pause_after(std::uint16_t n) {
    until_look_ = n;
    rest_ = static_cast<std::uint16_t>(steps_ - n);
  }
  /// Returns true if due() is true because of pause_after(). The interval then continues.
  bool ends_pause() {
    if (rest_ == 0) return false;
    until_look_ = rest_;
    rest_ = 0;
    return true;
  }
  /// Disables looks, because the environment has no clock.
  void look_never() { until_look_ = steps_ = kStepsMax; }
  /// Returns true if step() has requested a look that has not happened yet.
  bool due() const { return until_look_ == 0; }

 private:
  std::uint16_t until_look_ = 1;
  std::uint16_t steps_ = 1;
  std::uint16_t rest_ = 0;  // of the interval after its pause
  time_point looked_at_{};
  time_point began_at_{};
};

}  // namespace sluice::lib
