// SPDX-License-Identifier: Apache-2.0
// A limit that may change while a run works: a parallelism, the number of elements that a channel may buffer.
//
// An object that the limit applies to follows the knob, and is called for each new value. A change never affects the
// results: it affects only when elements are computed, and how many of them are in memory.
// Thread: any. A follower is called on the thread that sets the knob, without the knob's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "sluice/base/mutex.hpp"

namespace sluice::lib {

class knob_follower {
 public:
  /// The knob was set. Several calls may come at once, and in any order, so read the knob's current value.
  virtual void knob_changed() noexcept = 0;

 protected:
  ~knob_follower() = default;
};

class live_knob {
 public:
  live_knob(std::int64_t value, std::int64_t least, std::int64_t most, bool is_free)
      : least_(least), most_(most), is_free_(is_free), value_(std::clamp(value, least, most)) {}
  live_knob(const live_knob&) = delete;
  live_knob& operator=(const live_knob&) = delete;

  std::int64_t get() const noexcept { return value_.load(std::memory_order_acquire); }
  std::int64_t least() const noexcept { return least_; }
  std::int64_t most() const noexcept { return most_; }
  /// Returns true if the plan left the value to the engine (autotune), and false if the user fixed it.
  bool is_free() const noexcept { return is_free_; }
  /// Sets the nearest permitted value, and calls all followers.
  void set(std::int64_t value);
  /// Calls `f` after each change from now on, until `f` is destroyed.
  void follow(std::weak_ptr<knob_follower> f);

 private:
  const std::int64_t least_, most_;
  const bool is_free_;
  std::atomic<std::int64_t> value_;
  mutex mutex_;
  std::vector<std::weak_ptr<knob_follower>> followers_ ABSL_GUARDED_BY(mutex_);
  std::size_t followers_max_ ABSL_GUARDED_BY(mutex_) =
      16;  ///< at this number, followers that no longer exist are removed
};

}  // namespace sluice::lib
