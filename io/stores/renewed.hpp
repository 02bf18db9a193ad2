// SPDX-License-Identifier: Apache-2.0
// A secret that expires and is renewed before it does. One caller fetches the new one; the others wait for it, or use
// the old one while it is valid. If the fetch fails, all waiting callers, and those of the next second, get its error.
//
//   renewed<token> kept(time, now_ns);
//   auto t = co_await kept.get(source, deadline);      // calls source.fetch() if no secret is stored, or if it expires soon
//   kept.forget(t.name());                             // after a server has refused it
//
// Thread: any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/http/connections/concurrency_limit.hpp"
#include "io/http/messages/dates.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib::detail {

/// The expiry of a secret that does not expire.
inline constexpr std::int64_t kNeverEnds = INT64_MAX;

/// `Secret`: copyable, with `ends_ns` since 1970, and a name() that identifies it.
template <class Secret> class renewed {
 public:
  class source {
   public:
    virtual task<Secret> fetch(time_point deadline) = 0;

   protected:
    ~source() = default;
  };

  /// The time before its expiry at which a secret is renewed. A request in flight must not outlive its secret.
  static constexpr std::int64_t kEarlyNs = 5 * 60 * kSecondNs;
  /// The shortest time between two fetches, if a fetched secret expires soon or a fetch has failed.
  static constexpr std::int64_t kAgainNs = 30 * kSecondNs;

  /// The time for which a failed fetch answers other callers, too. A thousand requests do not cause a thousand fetches,
  /// each of which takes as long as all attempts of one.
  static constexpr duration kFailureKept = std::chrono::seconds(1);

  renewed(clock& time, std::function<std::int64_t()> now_ns)
      : time_(time), now_ns_(std::move(now_ns)), asking_(time, 1, 1) {}

  task<Secret> get(source& from, time_point deadline) {
    std::optional<Secret> kept = good();
    if (kept) co_return *std::move(kept);
    kept = in_date();
    auto free = asking_.try_acquire();
    if (kept && !free) co_return *std::move(kept);  // another caller is fetching the next one
    concurrency_limit::permit permit;
    if (free) permit = *std::move(free);
    else permit = co_await asking_.acquire();
    kept = good();  // another caller may have fetched it meanwhile
    if (kept) co_return *std::move(kept);
    status failed = failed_just_now();
    if (!failed.ok()) co_await fail(std::move(failed));
    auto fetching = from.fetch(deadline);
    auto fetched = co_await fetching.as_result();
    mutex_lock lock(mutex_);
    tried_ns_ = now_ns_();
    const status why = fetched.why();
    // A caller that was stopped or reached its deadline does not know that the fetch fails.
    const bool is_kept = why.code() != status_code::cancelled && why.code() != status_code::deadline_exceeded;
    if (is_kept) failed_ = why;
    failed_at_ = time_.now();
    if (why.ok()) secret_ = *std::move(fetched);
    else if (secret_ && secret_->ends_ns <= tried_ns_) secret_.reset();
    kept = secret_;
    lock.unlock();
    if (!kept) co_await fail(why);
    co_return *std::move(kept);
  }

  /// Drops the secret of that name, which a server has refused. Returns true if another one is stored or may be
  /// fetched. A secret that does not expire is fetched again once, because its file may have been replaced.
  bool forget(std::string_view refused) {
    mutex_lock lock(mutex_);
    if (!secret_ || secret_->name() != refused) return true;
    if (secret_->ends_ns == kNeverEnds && refused == refused_) return false;
    refused_ = std::string(refused);
    secret_.reset();
    failed_ = {};
    return true;
  }

 private:
  /// Returns the secret unless it must be fetched.
  std::optional<Secret> good() const {
    mutex_lock lock(mutex_);
    if (!secret_ || secret_->ends_ns == kNeverEnds) return secret_;
    const std::int64_t now = now_ns_();
    if (secret_->ends_ns <= now) return {};
    if (secret_->ends_ns - now > kEarlyNs || now - tried_ns_ < kAgainNs) return secret_;
    return {};
  }

  /// Returns the error of a recent failed fetch. Returns ok if the next fetch may succeed, or if the secret is still
  /// valid.
  status failed_just_now() const {
    mutex_lock lock(mutex_);
    const bool holds = secret_ && secret_->ends_ns > now_ns_();
    return holds || time_.now() - failed_at_ >= kFailureKept ? status() : failed_;
  }

  std::optional<Secret> in_date() const {
    mutex_lock lock(mutex_);
    return secret_ && secret_->ends_ns > now_ns_() ? secret_ : std::nullopt;
  }

  clock& time_;
  const std::function<std::int64_t()> now_ns_;
  concurrency_limit asking_;
  mutable mutex mutex_;
  std::optional<Secret> secret_ ABSL_GUARDED_BY(mutex_);
  std::int64_t tried_ns_ ABSL_GUARDED_BY(mutex_) = 0;
  status failed_ ABSL_GUARDED_BY(mutex_);  ///< the result of the last fetch
  time_point failed_at_ ABSL_GUARDED_BY(mutex_){};
  std::string refused_ ABSL_GUARDED_BY(mutex_);  ///< the name that was refused last
};

}  // namespace sluice::lib::detail
