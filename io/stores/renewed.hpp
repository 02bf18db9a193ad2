// SPDX-License-Identifier: Apache-2.0
// A secret that ends, and is fetched anew before it does: one fetches, the others wait or go on with the old one.
// Where there is none to be had, that is the answer to all who wait, and to who comes soon after.
//
//   renewed<token> kept(time, now_ns);
//   auto t = co_await kept.get(source, deadline);      // asks source.fetch() where there is none, or it ends soon
//   kept.forget(t.name());                             // a server has refused it
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

/// Of a secret that does not end.
inline constexpr std::int64_t kNeverEnds = INT64_MAX;

/// `Secret`: copyable, with `ends_ns` since 1970, and a name() that tells it from others.
template <class Secret> class renewed {
 public:
  class source {
   public:
    virtual task<Secret> fetch(time_point deadline) = 0;

   protected:
    ~source() = default;
  };

  /// Fetched so long before its end: that of a request that is on its way must not be the end.
  static constexpr std::int64_t kEarlyNs = 5 * 60 * kSecondNs;
  /// Where what was fetched ends as soon as that, or nothing could be fetched, it is tried again after so long.
  static constexpr std::int64_t kAgainNs = 30 * kSecondNs;

  /// Where none could be fetched, whoever asks within so long is told the same: a thousand requests are not a thousand
  /// fetches, each of which takes as long as the attempts of one.
  static constexpr duration kFailureKept = std::chrono::seconds(1);

  renewed(clock& time, std::function<std::int64_t()> now_ns)
      : time_(time), now_ns_(std::move(now_ns)), asking_(time, 1, 1) {}

  task<Secret> get(source& from, time_point deadline) {
    std::optional<Secret> kept = good();
    if (kept) co_return *std::move(kept);
    kept = in_date();
    auto free = asking_.try_acquire();
    if (kept && !free) co_return *std::move(kept);  // somebody is fetching the next one
    concurrency_limit::permit permit;
    if (free) permit = *std::move(free);
    else permit = co_await asking_.acquire();
    kept = good();  // somebody else has fetched it meanwhile
    if (kept) co_return *std::move(kept);
    status failed = failed_just_now();
    if (!failed.ok()) co_await fail(std::move(failed));
    auto fetching = from.fetch(deadline);
    auto fetched = co_await fetching.as_result();
    mutex_lock lock(mutex_);
    tried_ns_ = now_ns_();
    const status why = fetched.why();
    // Who was stopped, or had no time, has not found out anything.
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

  /// The one of that name is of no use. Returns true if another one is there, or may be fetched: of one that does not
  /// end, once, since somebody may have put another into its file.
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
  /// Nothing: one has to be fetched.
  std::optional<Secret> good() const {
    mutex_lock lock(mutex_);
    if (!secret_ || secret_->ends_ns == kNeverEnds) return secret_;
    const std::int64_t now = now_ns_();
    if (secret_->ends_ns <= now) return {};
    if (secret_->ends_ns - now > kEarlyNs || now - tried_ns_ < kAgainNs) return secret_;
    return {};
  }

  /// Why there is none. Ok: that has to be found out, or there is one that still holds.
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
  status failed_ ABSL_GUARDED_BY(mutex_);  ///< of the last fetch
  time_point failed_at_ ABSL_GUARDED_BY(mutex_){};
  std::string refused_ ABSL_GUARDED_BY(mutex_);  ///< the last one that was
};

}  // namespace sluice::lib::detail
