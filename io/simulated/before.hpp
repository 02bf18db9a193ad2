// SPDX-License-Identifier: Apache-2.0
// Deadlines of the simulated seams, whose waits are sleeps and channels.
//
//   auto reading = read_now(to);
//   auto in_time = before(deadline, late("a:1: read"), std::move(reading));
//   auto n = co_await in_time;
//
// At the deadline the work is stopped, and the wait for it ends with the given error. The work must therefore end at
// once after a stop, stay usable afterwards, and not outlive the objects that it refers to. If the work waits for
// something real that need not answer (the kernel, a server), a deadline must separate the waiter from its operation
// instead: io/local/operation.hpp.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "io/paths/late.hpp"
#include "sluice/coro/scope.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib::detail {

/// The delay of an answer that never arrives: longer than any wait, and short enough to be added to any moment.
inline constexpr duration kSilence = std::chrono::hours(24 * 365 * 100);

/// Stops a scope at a moment, unless it is destroyed before.
class stop_at final : timer_node {
 public:
  stop_at(time_point when, environment& env, scope& all) : time_(*env.time), all_(all) {
    due = when;
    fire = [](timer_node& node) noexcept {
      auto& me = static_cast<stop_at&>(node);
      me.fired_ = true;
      me.all_.request_stop();
    };
    time_.arm(*this);
  }
  stop_at(const stop_at&) = delete;
  stop_at& operator=(const stop_at&) = delete;
  ~stop_at() {
    if (!fired_) (void)time_.cancel(*this);  // a simulation has one thread, so the timer is not firing now
  }
  bool fired() const noexcept { return fired_; }

 private:
  clock& time_;
  scope& all_;
  bool fired_ = false;
};

template <class T> using kept_outcome = std::conditional_t<std::is_void_v<T>, status, result<T>>;

inline const status& why_of(const status& why) { return why; }
template <class T> const status& why_of(const result<T>& r) { return r.why(); }

template <class T> task<> keep_outcome(task<T> work, std::optional<kept_outcome<T>>& to) {
  task<T> mine = std::move(work);
  to = co_await mine.as_result();
}

template <class T> task<T> before(time_point deadline, status too_late, task<T> work) {
  task<T> mine = std::move(work);
  std::optional<kept_outcome<T>> outcome;
  if (deadline == kNever) {
    outcome = co_await mine.as_result();
  } else {
    environment* env = co_await this_environment();
    if (deadline <= env->time->now()) co_await fail(std::move(too_late));
    scope all(*env);
    all.spawn(keep_outcome(std::move(mine), outcome));
    stop_at at(deadline, *env, all);
    co_await all.join();
    if (at.fired() && why_of(*outcome).code() == status_code::cancelled) co_await fail(std::move(too_late));
  }
  if (!outcome->ok()) co_await fail(why_of(*outcome));
  if constexpr (!std::is_void_v<T>) co_return *std::move(*outcome);
}

}  // namespace sluice::lib::detail
