// SPDX-License-Identifier: Apache-2.0
// A limit that may change while a run works: a parallelism, the elements that a channel may hold.
//
// Whoever is bound by it follows it, and is called with each new value. Changing it never changes an answer: only when
// elements are made, and how many of them are in memory.
// Thread: any. A follower is called on the thread that sets the knob, without the knob's lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice::lib {

class knob_follower {
 public:
  /// The knob was set. Several calls may come at once, and in any order: read the knob.
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
  /// The nearest value that is allowed; all who follow are told.
  void set(std::int64_t value);
  /// Tells `f` of every change from now on, until it is gone.
  void follow(std::weak_ptr<knob_follower> f);

 private:
  const std::int64_t least_, most_;
  const bool is_free_;
  std::atomic<std::int64_t> value_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<knob_follower>> followers_;  ///< guarded by mutex_
  std::size_t followers_max_ = 16;  ///< guarded by mutex_: so many, and those that are gone are dropped
};

}  // namespace sluice::lib
